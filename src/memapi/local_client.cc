#include "memapi/local_client.h"

#include <utility>

#include "memapi/json_edit.h"

namespace berth::memapi {

// Remembers changes, whoever makes them, until the world looks at them.
class Following::Feed final : public ChangeSink, public std::enable_shared_from_this<Feed> {
 public:
  Feed(Loop& loop, Handler handler) : loop_(loop), handler_(std::move(handler)) {}

  void offer(const Change& change) override EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    pending_.push_back(change);
  }
  void offer_initial(const ObjectRef& object) override EXCLUDES(mutex_) {
    offer({ChangeType::kAdded, object->version, object, nullptr});
  }
  void offer_initial_end(std::uint64_t) override {}
  void offer_bookmark(std::uint64_t) override {}

  void flush() override EXCLUDES(mutex_) {
    {
      const MutexLock lock(mutex_);
      if (posted_ || pending_.empty()) return;
      posted_ = true;
    }
    loop_.post([weak = weak_from_this()] {
      if (const auto feed = weak.lock()) feed->drain();
    });
  }

  bool over() const override EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    return over_;
  }
  void end() override EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    over_ = true;
  }

  // World thread.
  void drain() EXCLUDES(mutex_) {
    if (draining_) return;
    draining_ = true;
    for (;;) {
      std::deque<Change> batch;
      {
        const MutexLock lock(mutex_);
        posted_ = false;
        if (over_) break;
        batch.swap(pending_);
      }
      if (batch.empty()) break;
      for (const Change& change : batch) handler_(change);
    }
    draining_ = false;
  }

 private:
  Loop& loop_;
  const Handler handler_;
  bool draining_ = false;  // of the world
  mutable Mutex mutex_;
  std::deque<Change> pending_ GUARDED_BY(mutex_);
  bool posted_ GUARDED_BY(mutex_) = false;
  bool over_ GUARDED_BY(mutex_) = false;
};

Following::Following(Store& store, Loop& loop, const Resource& resource, Handler handler)
    : store_(store), feed_(std::make_shared<Feed>(loop, std::move(handler))) {
  static_cast<void>(store_.watch(resource, {}, feed_));
}

Following::~Following() {
  feed_->end();
  store_.unwatch(feed_.get());
}

void Following::catch_up() { feed_->drain(); }

std::vector<ObjectRef> LocalClient::list(const Resource& resource,
                                         std::string_view namespace_name) const {
  Answer<ListPage> page = store_.list(resource, {std::string(namespace_name), {}, "", 0}, {});
  return page ? std::move(page->items) : std::vector<ObjectRef>();
}

Answer<ObjectRef> LocalClient::create(const Resource& resource, JsonValue object) {
  normalize(object);
  return writes_.add(resource, std::move(object));
}

Answer<ObjectRef> LocalClient::update(const Resource& resource, std::string_view namespace_name,
                                      std::string_view name, const Edit& edit) {
  return writes_.edit(resource, namespace_name, name, "", edit);
}

Answer<ObjectRef> LocalClient::update_status(const Resource& resource,
                                             std::string_view namespace_name, std::string_view name,
                                             const Edit& edit) {
  return writes_.edit(resource, namespace_name, name, "status", edit);
}

Answer<void> LocalClient::remove(const Resource& resource, std::string_view namespace_name,
                                 std::string_view name, const DeleteOptions& options) {
  return writes_.remove(resource, namespace_name, name, options);
}

Answer<void> LocalClient::bind(std::string_view namespace_name, std::string_view name,
                               std::string_view uid, std::string_view node) {
  JsonValue binding = JsonValue::object();
  JsonValue& metadata = object_at(binding, "metadata");
  set_text(metadata, "name", name);
  set_text(metadata, "namespace", namespace_name);
  if (!uid.empty()) set_text(metadata, "uid", uid);
  JsonValue& target = object_at(binding, "target");
  set_text(target, "kind", "Node");
  set_text(target, "name", node);
  return writes_.bind(namespace_name, binding);
}

}  // namespace berth::memapi
