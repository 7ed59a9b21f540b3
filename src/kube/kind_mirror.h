// KindMirror: the objects of one kind as they were last seen, by name, to turn what an API server
// says into what has changed. It holds what the cluster holds anyway: a reference per object.
//
// A watch reports changes; an older or equal version is ignored. A list reports everything: what it
// does not have is gone. It is applied when it is whole; one that breaks off leaves no trace. A
// list usually has nothing new about an object whose version is known. When the store behind the
// server may have been set back, versions prove nothing: then a pod or node is known if all that is
// held of it is the same, and anything else that is listed with a version that is not newer goes and
// comes again, so that code that compares versions does not ignore it as old.
//
// World thread; part of a Reflector.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "berth/object.h"
#include "kube/watch_stream.h"

namespace berth::kube {

class KindMirror {
 public:
  // How a change became known.
  enum class Learned : std::uint8_t {
    kFromWatch,
    kFromFirstList,
    kFromLaterList,  // it happened while nobody watched
  };
  using Apply = std::function<void(Delta)>;
  // Hears of a delta before it is applied, with the object's text if that is kept.
  using TakeText = std::function<void(const Delta&, ObjectText, Learned)>;

  // `apply` and `take_text` outlive it, and do not call it.
  static std::unique_ptr<KindMirror> make(ObjectKind kind, const Apply& apply,
                                          const TakeText* take_text = nullptr);
  virtual ~KindMirror() = default;

  // An event of a watch: added, modified or deleted.
  virtual void changed(WatchedEvent event) = 0;

  // A list begins; one that had begun is forgotten. `trusts_versions`: an object whose version is
  // known is known.
  virtual void begin_list(bool trusts_versions = true) = 0;
  // An object of the list, or a change that arrives during a streaming list.
  virtual void listed(WatchedEvent event) = 0;
  // The list is whole: applies it.
  virtual void finish_list() = 0;
  virtual void abandon_list() = 0;

  virtual std::size_t size() const = 0;
};

// Whether `version` is newer than `known`. Versions are numbers; what is not one is news if it
// differs.
bool is_newer_version(std::string_view version, std::string_view known);

}  // namespace berth::kube
