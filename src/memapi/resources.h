// The one table of what the embedded API server serves: groups, versions, kinds, names, scope,
// subresources. To add a kind: a line in resources.cc (and columns in table_columns.cc, if the
// usual two do not say enough).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace berth::memapi {

// What can be done to a kind.
enum class Verbs : std::uint8_t {
  kAll,           // create delete deletecollection get list patch update watch
  kNoCollection,  // all but deletecollection
  kCreate,        // a question that is answered and forgotten
};

// How its names must look.
enum class NameRule : std::uint8_t { kSubdomain, kLabel, kPathSegment };

struct CustomKind;

struct Resource {
  std::string_view group = {};
  std::string_view version = {};
  std::string_view plural = {};
  std::string_view singular = {};
  std::string_view kind = {};
  bool namespaced = true;
  Verbs verbs = Verbs::kAll;
  std::string_view short_names = {};   // with commas between
  std::string_view categories = {};    // with commas between
  std::string_view subresources = {};  // with commas between
  bool generation = false;             // metadata.generation counts changes of the spec
  // A second view of what another resource stores: "events" of events.k8s.io.
  std::string_view stored_as = {};
  NameRule names = NameRule::kSubdomain;
  std::string_view warning = {};  // said to whoever writes one
  // Of a kind that a CustomResourceDefinition made: what it says (crd_kinds.h), and where its
  // objects are stored, beyond the places of the table.
  const CustomKind* custom = nullptr;
  std::size_t slot = 0;

  bool has(std::string_view subresource) const;
  // "v1", "apps/v1".
  std::string group_version() const;
};

std::span<const Resource> resources();
// Null when there is none.
const Resource* find_resource(std::string_view group, std::string_view version,
                              std::string_view plural);
const Resource& resource_of(std::string_view plural, std::string_view group = {});
// Where objects of the resource are kept: the index of itself, or of the one it is a view of.
std::size_t storage_index(const Resource& resource);
std::size_t resource_index(const Resource& resource);

// The groups in the order of discovery, "" first; each has one version, the others none.
bool is_group(std::string_view group);
bool is_group_version(std::string_view group, std::string_view version);

// Calls `f` with every part of "a,b".
template <typename F>
void for_each_part(std::string_view list, F f) {
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    f(list.substr(0, comma));
    if (comma == std::string_view::npos) return;
    list.remove_prefix(comma + 1);
  }
}

}  // namespace berth::memapi
