// JSON patch (RFC 6902) and merge patch (RFC 7386) on a tree.
#pragma once

#include <cstddef>

#include "memapi/api_error.h"
#include "wire/json_tree.h"

namespace berth::memapi {

// What has been done for one patch, in members and items looked at. It is about as many as patch
// and object have, but for a JSON patch that inserts at the front of a long list again and again.
class PatchWork {
 public:
  explicit PatchWork(std::size_t most = 100'000'000) : most_(most) {}  // less than a second

  void add(std::size_t looked_at) { done_ += looked_at; }
  bool too_much() const { return done_ > most_; }
  static ApiError error();  // 413

 private:
  std::size_t most_;
  std::size_t done_ = 0;
};

// 422 when an operation does not fit the object or nests too deeply, 400 when the patch itself
// makes no sense, 413 when it is too much work.
Answer<void> apply_json_patch(JsonValue& object, const JsonValue& patch,
                              PatchWork work = PatchWork());

Answer<void> apply_merge_patch(JsonValue& object, const JsonValue& patch,
                               PatchWork work = PatchWork());

// Of members with the same name the last one stays, as in a map of Go's.
JsonValue without_duplicates(JsonValue patch);

inline constexpr std::string_view kApplyPatch = "application/apply-patch+yaml";

}  // namespace berth::memapi
