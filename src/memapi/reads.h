// Reads: get, list with paging, and watch.
#pragma once

#include <deque>
#include <memory>
#include <string>

#include "base/thread.h"
#include "berth/loop.h"
#include "memapi/api_request.h"
#include "memapi/store.h"
#include "memapi/views.h"
#include "net/http_message.h"

namespace berth::memapi {

// One watch: remembers what the store offers and writes it to its client, outside the store's lock
// and in order. A client that is gone or does not read is let go.
class Watcher final : public ChangeSink {
 public:
  Watcher(const Resource& resource, std::string namespace_name, std::string name_in_path,
          Selection selection, AnswerForm form, std::string include, bool bookmarks,
          const Views& views, std::shared_ptr<net::HttpResponder> responder,
          std::shared_ptr<const CustomKinds> custom);

  // Changes up to this version are not told of, also when they are still to come: that is how a
  // server restored from an older backup answers those who have seen later versions. Before it is
  // given to the store.
  void begin_after(std::uint64_t version) { after_ = version; }

  void offer(const Change& change) override EXCLUDES(mutex_);
  void offer_initial(const ObjectRef& object) override EXCLUDES(mutex_);
  void offer_initial_end(std::uint64_t version) override EXCLUDES(mutex_);
  void offer_bookmark(std::uint64_t version) override EXCLUDES(mutex_);
  void flush() override EXCLUDES(mutex_);

  // Ends the stream after what has been offered. Any thread.
  void end() override EXCLUDES(mutex_);
  // Nothing more will be written.
  void abandon() EXCLUDES(mutex_);
  bool over() const override EXCLUDES(mutex_);

 private:
  struct Event {
    const char* type;
    ObjectRef object;           // none: a bookmark
    std::uint64_t version = 0;  // of a bookmark, or of an object that left the selection
    bool initial_end = false;
  };

  bool selected(const StoredObject& object) const;
  bool write(const Event& event);

  const Resource& resource_;
  const std::string namespace_name_;
  const std::string name_;
  const Selection selection_;
  const AnswerForm form_;
  const std::string include_;
  const bool bookmarks_;
  const Views& views_;
  const std::shared_ptr<net::HttpResponder> responder_;
  const std::shared_ptr<const CustomKinds> custom_;  // keeps the resource
  std::uint64_t after_ = 0;

  mutable Mutex mutex_;
  std::deque<Event> pending_ GUARDED_BY(mutex_);
  bool writing_ GUARDED_BY(mutex_) = false;
  bool ending_ GUARDED_BY(mutex_) = false;
  bool over_ GUARDED_BY(mutex_) = false;
  bool first_ = true;  // of whoever is writing
};

// "v":"meta.k8s.io/v1" and where to go on, as a token for clients.
std::string continue_token(std::uint64_t version, std::string_view start);
struct ContinuePoint {
  std::uint64_t version = 0;
  std::string start;
};
Answer<ContinuePoint> parse_continue(std::string_view token);

Answer<std::string> list_json(const ApiRequest& request, const Store& store, const Views& views);

// 422 for combinations of parameters that mean nothing.
Answer<void> check_list_options(const ApiRequest& request, bool watch);

}  // namespace berth::memapi
