// Manifests: files that people wrote, as objects. YAML or JSON, several documents, `List` objects.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "berth/interner.h"
#include "berth/loop.h"
#include "berth/object.h"
#include "berth/result.h"

namespace berth {

struct Admission;

// One object as read. Kinds that scheduling reads are decoded; workloads (Deployment, ReplicaSet,
// StatefulSet, DaemonSet, Job) also carry their JSON, for whoever expands them into pods.
struct ManifestObject {
  ObjectKind kind = ObjectKind::kOther;
  std::string api_version;
  std::string kind_text;
  std::string namespace_name;
  std::string name;
  AnyObject object;   // empty for kinds that are not decoded
  std::string json;   // the object's own JSON text
  std::string where;  // "file.yaml: document 2 (line 17)": for messages; ": items[3]" in a list
};

// Errors name file, document, object and field:
//   web.yaml: document 2 (line 17): Pod default/web-1: spec.priority: expected an integer, got …
Result<std::vector<ManifestObject>> read_manifest(std::string_view text,
                                                  const std::string& file_name, Interner& interner);

// One line for every field that an object's kind does not have (one that stands twice is an error of
// read_manifest() already):
//   web.yaml: document 2 (line 17): Pod default/web-1: unknown field "spec.nodeSelectr", did you
//   mean "nodeSelector"?
std::vector<std::string> name_unknown_fields(const std::vector<ManifestObject>& objects);
// The same of one object, which is written as `json`, appended to `lines`.
void name_unknown_fields(const ManifestObject& object, std::string_view json,
                         std::vector<std::string>& lines);

// Makes of the objects, all files together, what an API server would (defaulting.h). After reading,
// because a pod may name a PriorityClass that comes later.
Result<void> admit_all(std::vector<ManifestObject>& objects, Interner& interner, WallTime now);
// The same into a cluster that is not empty: `admission` knows the priority classes that are there
// and the version that comes next.
Result<void> admit_all(std::vector<ManifestObject>& objects, Interner& interner,
                       Admission& admission);

}  // namespace berth
