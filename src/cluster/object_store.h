// ObjectStore: the objects that plugins look up (namespaces, services, claims, …), by kind,
// namespace and name. Part of Cluster.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string_view>
#include <vector>

#include "berth/object.h"

namespace berth {

class ObjectStore {
 public:
  void put(Ref<const Object> object);
  void remove(const Object& named_alike);
  Ref<const Object> find(ObjectKind kind, std::string_view namespace_name,
                         std::string_view name) const {
    return find(kind, FullName{{}, namespace_name, name});
  }
  Ref<const Object> find(const Object& named_alike) const {
    return find(named_alike.kind, ByName::full_name(named_alike));
  }
  Ref<const OtherObject> find_other(std::string_view resource, std::string_view namespace_name,
                                    std::string_view name) const;
  std::vector<Ref<const OtherObject>> list_others(std::string_view resource) const;
  std::vector<Ref<const Object>> list(ObjectKind kind) const;
  std::vector<Ref<const Object>> list(ObjectKind kind, std::string_view namespace_name) const;
  std::uint64_t generation(ObjectKind kind) const { return of(kind).generation; }

 private:
  struct FullName {
    std::string_view resource;  // of kOther
    std::string_view namespace_name;
    std::string_view name;
    friend auto operator<=>(const FullName&, const FullName&) = default;
  };
  // By texts that the object has itself.
  struct ByName {
    using is_transparent = void;
    static FullName full_name(const Object& object) {
      return {
          object.kind == ObjectKind::kOther
              ? std::string_view(static_cast<const OtherObject&>(object).resource)
              : std::string_view(),
          object.symbols.table() ? object.symbols.text(object.namespace_name) : std::string_view(),
          object.name};
    }
    static FullName full_name(const Ref<const Object>& object) { return full_name(*object); }
    static FullName full_name(FullName name) { return name; }
    bool operator()(const auto& a, const auto& b) const { return full_name(a) < full_name(b); }
  };
  struct OfKind {
    std::set<Ref<const Object>, ByName> objects;
    std::uint64_t generation = 0;
  };
  static constexpr std::size_t kKinds = static_cast<std::size_t>(ObjectKind::kOther) + 1;

  Ref<const Object> find(ObjectKind kind, FullName name) const;

  OfKind& of(ObjectKind kind) { return kinds_[static_cast<std::size_t>(kind)]; }
  const OfKind& of(ObjectKind kind) const { return kinds_[static_cast<std::size_t>(kind)]; }

  std::array<OfKind, kKinds> kinds_;
};

}  // namespace berth
