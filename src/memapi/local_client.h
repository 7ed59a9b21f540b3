// LocalClient: the API server for code in the same process: controllers, a node agent, an embedded
// scheduler. Writes go the way that requests go (defaults, admission, validation, versions,
// watches), without HTTP in between; reads are the store itself.
//
// Writes and reads: any thread. What is followed is told on the world thread. Lives as long as its
// ApiServer; whoever follows something ends before it.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "base/thread.h"
#include "berth/loop.h"
#include "memapi/crd_kinds.h"
#include "memapi/store.h"
#include "memapi/writes.h"
#include "wire/json_tree.h"

namespace berth::memapi {

// The changes of one kind, in order, beginning with what is there as kAdded. Ends when it is
// destroyed.
class Following {
 public:
  using Handler = std::function<void(const Change&)>;

  Following(Store& store, Loop& loop, const Resource& resource, Handler handler);
  ~Following();
  Following(const Following&) = delete;
  Following& operator=(const Following&) = delete;

  // World thread. Tells now what has changed and would be told in a turn of the loop that is still
  // to come: afterwards the follower knows all that was written before the call. Nothing when it is
  // called by the handler itself.
  void catch_up();

 private:
  class Feed;
  Store& store_;
  std::shared_ptr<Feed> feed_;
};

class LocalClient {
 public:
  // Changes an object's tree; an error leaves it as it was.
  using Edit = std::function<Answer<void>(JsonValue& object)>;

  LocalClient(Store& store, const CrdRegistry& crds, Writes& writes, Loop& loop)
      : store_(store), crds_(crds), writes_(writes), loop_(loop) {}
  LocalClient(const LocalClient&) = delete;
  LocalClient& operator=(const LocalClient&) = delete;

  Loop& loop() const { return loop_; }
  // The kinds that CustomResourceDefinitions make now.
  CustomKindsRef custom_kinds() const { return crds_.kinds(); }

  // Null when there is none.
  ObjectRef get(const Resource& resource, std::string_view namespace_name,
                std::string_view name) const {
    return store_.get(resource, namespace_name, name);
  }
  // All of a namespace, or of all (""), by key.
  std::vector<ObjectRef> list(const Resource& resource, std::string_view namespace_name = {}) const;

  std::size_t count(const Resource& resource) const { return store_.count(resource); }

  Answer<ObjectRef> create(const Resource& resource, JsonValue object);
  // PUT of the object (or of its status) as `edit` leaves it; tried again when somebody else was
  // quicker. What says the same as before is not written.
  Answer<ObjectRef> update(const Resource& resource, std::string_view namespace_name,
                           std::string_view name, const Edit& edit);
  Answer<ObjectRef> update_status(const Resource& resource, std::string_view namespace_name,
                                  std::string_view name, const Edit& edit);
  Answer<void> remove(const Resource& resource, std::string_view namespace_name,
                      std::string_view name, const DeleteOptions& options = {});
  // Counts what a ResourceQuota limits, for its status.
  void recount_quota(std::string_view namespace_name, std::string_view name) {
    writes_.recount_quota(namespace_name, name);
  }
  // As POST on pods/binding.
  Answer<void> bind(std::string_view namespace_name, std::string_view name, std::string_view uid,
                    std::string_view node);

  std::unique_ptr<Following> follow(const Resource& resource, Following::Handler handler) {
    return std::make_unique<Following>(store_, loop_, resource, std::move(handler));
  }

 private:
  Store& store_;
  const CrdRegistry& crds_;
  Writes& writes_;
  Loop& loop_;
};

}  // namespace berth::memapi
