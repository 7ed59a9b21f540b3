// list_objects(): everything that an API server has of one kind, each object with its full JSON, in
// the form of read_manifest(). For tools that look at a cluster from outside; a scheduler follows
// one with Reflectors, which keep only what scheduling reads. World thread.
#pragma once

#include <cstddef>
#include <expected>
#include <string>
#include <vector>

#include "api/manifest.h"
#include "berth/interner.h"
#include "berth/loop.h"
#include "berth/task.h"
#include "kube/api_client.h"
#include "kube/watched_kinds.h"

namespace berth::kube {

struct ListOptions {
  std::string where;                    // of each object, for messages: the server
  std::size_t page_size = 500;          // objects per request
  Duration timeout = Duration::zero();  // of each try of a request; none: the client's
};

struct ObjectList {
  std::vector<ManifestObject> objects;  // in the server's order
  std::string resource_version;         // of the whole list: a watch may go on from here
  // Objects that were left out because they cannot be decoded, one line each. A scheduler does not
  // see them either.
  std::vector<std::string> undecodable;
};

// Lists `kind` in all namespaces, page by page. If the server forgets the version that the pages are
// of, the list is asked for once more, whole. Objects of a list need not say what they are, those
// given back do: apiVersion and kind are added in front. `client` and `interner` outlive the task.
Task<std::expected<ObjectList, ApiFailure>> list_objects(ApiClient& client, WatchedKind kind,
                                                         ListOptions options, Interner& interner);

}  // namespace berth::kube
