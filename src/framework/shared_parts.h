// SharedParts: what the plugins of all profiles of one scheduler have in common, one value per
// type: a book of devices in flight, say, which must not be kept twice. Made by whoever asks first.
//
//   std::shared_ptr<DeviceBook> book =
//       handle.shared->get<DeviceBook>([&] { return std::make_shared<DeviceBook>(handle.cluster);
//       });
//
// World thread.
#pragma once

#include <memory>
#include <utility>
#include <vector>

namespace berth {

class SharedParts {
 public:
  template <typename T, typename Make>
  std::shared_ptr<T> get(Make make) {
    for (const auto& [type, part] : parts_)
      if (type == type_tag<T>()) return std::static_pointer_cast<T>(part);
    std::shared_ptr<T> made = make();
    parts_.emplace_back(type_tag<T>(), made);
    return made;
  }

 private:
  template <typename T>
  static const void* type_tag() {
    static constexpr char kTag = 0;
    return &kTag;
  }
  std::vector<std::pair<const void*, std::shared_ptr<void>>> parts_;
};

}  // namespace berth
