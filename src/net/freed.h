// Freed: how a std::unique_ptr gives back what a C library made.
//
//   using Url = std::unique_ptr<CURLU, Freed<curl_url_cleanup>>;
//
// Only for this room.
#pragma once

namespace berth::net {

template <auto Free>
struct Freed {
  template <typename T>
  void operator()(T* object) const {
    Free(object);
  }
};

}  // namespace berth::net
