// ManifestLoader: the objects of files of manifests as an API server would have them, read piece by
// piece and each of them once: what a large cluster takes is its objects, not their text.
//
//   ManifestLoader loader(interner, now);
//   Result<std::vector<std::string>> unknown_fields = loader.read(file, "cluster.json");
//   Result<std::vector<ManifestObject>> objects = loader.finish();
//
// It does what read_manifest(), name_unknown_fields() and admit_all() do, in one go.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/defaulting.h"
#include "api/field_check.h"
#include "api/manifest_walk.h"
#include "api/written_pod.h"
#include "wire/json_reader.h"

namespace berth {

class ManifestLoader : private ManifestWalk {
 public:
  ManifestLoader(Interner& interner, WallTime now) : interner_(interner) { admission_.now = now; }

  // Reads one file; a line for every field that an object of it does not have.
  Result<std::vector<std::string>> read(TextSource& source, const std::string& file_name);

  // All objects, when all files were read. Only workloads have their JSON.
  Result<std::vector<ManifestObject>> finish();

 private:
  // A pod for which PriorityClasses matter that come later. What it said itself:
  struct Unsettled {
    std::size_t object = 0;
    bool class_named = false;
    bool priority_given = false;
    bool policy_given = false;
    bool refused = false;  // it is not admitted yet
  };

  Result<void> decode(ManifestObject& object, std::string_view json) override;
  Result<AnyObject> decode_pod(JsonReader& json, std::string_view name);
  void settle_groups();
  Result<AnyObject> admit_again(const Pod& pod, const Unsettled& unsettled);

  Interner& interner_;
  Admission admission_;
  JsonReader::Memory memory_;
  KnownFields known_fields_;
  std::vector<std::string> unknown_;
  std::vector<Unsettled> unsettled_;
  std::size_t classes_until_ = 0;  // objects after which there was no PriorityClass any more
};

}  // namespace berth
