// Watches: from the store's changes to a client's stream.

#include <utility>

#include "memapi/json_edit.h"
#include "memapi/reads.h"

namespace berth::memapi {

Watcher::Watcher(const Resource& resource, std::string namespace_name, std::string name_in_path,
                 Selection selection, AnswerForm form, std::string include, bool bookmarks,
                 const Views& views, std::shared_ptr<net::HttpResponder> responder,
                 std::shared_ptr<const CustomKinds> custom)
    : resource_(resource),
      namespace_name_(std::move(namespace_name)),
      name_(std::move(name_in_path)),
      selection_(std::move(selection)),
      form_(form),
      include_(std::move(include)),
      bookmarks_(bookmarks),
      views_(views),
      responder_(std::move(responder)),
      custom_(std::move(custom)) {}

bool Watcher::selected(const StoredObject& object) const {
  return (namespace_name_.empty() || object.namespace_name == namespace_name_) &&
         (name_.empty() || object.name == name_) && selection_.matches(object.selectable());
}

void Watcher::offer(const Change& change) {
  if (change.version <= after_) return;
  const bool before = change.previous && selected(*change.previous);
  const bool after = change.type != ChangeType::kDeleted && selected(*change.object);
  if (!before && !after) return;
  Event event{.type = "MODIFIED", .object = change.object};
  if (after && !before) {
    event.type = "ADDED";
  } else if (before && !after) {
    // Who leaves the selection is told of as it last was in it.
    event.type = "DELETED";
    if (change.type != ChangeType::kDeleted) {
      event.object = change.previous;
      event.version = change.version;
    }
  }
  const MutexLock lock(mutex_);
  if (!over_) pending_.push_back(std::move(event));
}

void Watcher::offer_initial(const ObjectRef& object) {
  if (!selected(*object)) return;
  const MutexLock lock(mutex_);
  pending_.push_back({.type = "ADDED", .object = object});
}

void Watcher::offer_initial_end(std::uint64_t version) {
  if (!bookmarks_) return;
  const MutexLock lock(mutex_);
  pending_.push_back(
      {.type = "BOOKMARK", .object = nullptr, .version = version, .initial_end = true});
}

void Watcher::offer_bookmark(std::uint64_t version) {
  if (!bookmarks_ || version < after_) return;
  const MutexLock lock(mutex_);
  if (!over_) pending_.push_back({.type = "BOOKMARK", .object = nullptr, .version = version});
}

bool Watcher::write(const Event& event) {
  Answer<std::string> frame;
  if (!event.object) {
    frame = views_.watch_event(
        form_.encoding, event.type,
        views_.bookmark(resource_, form_.form, include_, event.version, event.initial_end, first_));
  } else if (event.version != 0) {
    StoredObject last = *event.object;
    JsonValue tree = last.tree();
    last.version = event.version;
    set_text(object_at(tree, "metadata"), "resourceVersion", std::to_string(event.version));
    last.json = to_json(tree);
    frame = views_.watch_event(resource_, form_, event.type, last, include_, first_);
  } else {
    frame = views_.watch_event(resource_, form_, event.type, *event.object, include_, first_);
  }
  first_ = false;
  if (frame) return responder_->write(std::move(*frame));
  // It cannot be told in this encoding: the client learns why, and that nothing more comes.
  frame = views_.watch_event(form_.encoding, "ERROR", to_json(frame.error().to_status()));
  if (frame) static_cast<void>(responder_->write(std::move(*frame)));
  responder_->end();
  return false;
}

void Watcher::flush() {
  std::deque<Event> batch;
  for (;;) {
    {
      const MutexLock lock(mutex_);
      if (batch.empty() && writing_) return;  // whoever is writing sees what we were told of
      batch.clear();
      writing_ = false;
      if (over_) return;
      if (pending_.empty()) {
        if (!ending_) return;
        over_ = true;
      } else {
        writing_ = true;
        batch.swap(pending_);
      }
    }
    if (batch.empty()) {
      responder_->end();
      return;
    }
    for (const Event& event : batch) {
      if (write(event)) continue;
      abandon();
      break;
    }
  }
}

void Watcher::end() {
  {
    const MutexLock lock(mutex_);
    ending_ = true;
  }
  flush();
}

void Watcher::abandon() {
  std::deque<Event> dropped;
  const MutexLock lock(mutex_);
  over_ = true;
  dropped.swap(pending_);
}

bool Watcher::over() const {
  const MutexLock lock(mutex_);
  return over_;
}

}  // namespace berth::memapi
