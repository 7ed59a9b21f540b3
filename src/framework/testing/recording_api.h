// RecordingApi: the ClusterApi of tests. It notes every call, does with it what the test has said
// (fail, wait, do something first), and passes it on to another ClusterApi. Without one it says yes
// and keeps nothing.
//
//   RecordingApi api;
//   api.fails("evict a", {ErrorKind::kForbidden, "no"});   // the next call that begins so
//   api.hold("patch");                                     // all that begin so, from now on
//   ...
//   EXPECT_THAT(api.calls, ElementsAre("evict a", "patch p"));
//   api.answer("patch", "7");                              // the oldest that waits
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/devices.h"
#include "api/owned_fields.h"
#include "berth/cluster_api.h"
#include "berth/task.h"

namespace berth::testing {

class RecordingApi : public ClusterApi {
 public:
  // `next` outlives this.
  explicit RecordingApi(ClusterApi* next = nullptr) : next_(next) {}

  // ---- what was asked, in order
  // "bind p n1", "patch p MESSAGE on "n1" at 7", "evict p", "update c", "status c", "create c-",
  // "delete c", "get c", "unreserve c"
  std::vector<std::string> calls;
  std::vector<std::pair<std::string, std::string>> bound;  // full name of the pod, node
  std::vector<std::pair<std::string, PodStatusPatch>> patches;
  std::vector<std::string> evicted;        // full names
  std::vector<std::string> looked_up;      // whether others have bound it: "ns/pod on node later"
  std::vector<Ref<const Object>> written;  // by update, where nobody is next
  std::vector<PodEvent> events;
  std::vector<std::string> take_calls() { return std::exchange(calls, {}); }

  // ---- what becomes of it. `which` is how a call's text begins: "evict", "evict a"; "": of all.
  // The next such call fails. `applied`: it is passed on, only its answer is lost.
  void fails(std::string which, Error error, bool applied = false) {
    scripts_.push_back({std::move(which), {}, std::move(error), applied});
  }
  // Runs before the next such call is passed on: what happens in the meantime.
  void before(std::string which, std::move_only_function<void()> work) {
    scripts_.push_back({std::move(which), std::move(work), {}, true});
  }
  // Such calls wait until they are released or answered.
  void hold(std::string which) { held_.push_back(std::move(which)); }
  // Lets those that wait go on, and holds no more of them.
  void release(std::string_view which) {
    std::erase(held_, which);
    while (const std::shared_ptr<Answer> waiting = take_open(which)) waiting->set(std::nullopt);
  }
  // Answers the oldest that waits, which is not passed on then; a success that has an object to show
  // is. The text is the version of a patched pod.
  void answer(std::string_view which, Result<std::string> with = std::string()) {
    if (const std::shared_ptr<Answer> waiting = take_open(which)) waiting->set(std::move(with));
  }
  int ended_early = 0;           // calls whose task ended while they waited
  bool bound_by_others = false;  // the answer to is_bound

  // ---- ClusterApi
  Task<Result<void>> bind(Ref<const Pod> pod, std::string node) override {
    bound.emplace_back(pod->full_name(), node);
    Task<Step> beginning = begin("bind " + std::string(pod->name()) + " " + node);
    const Step step = co_await beginning;
    if (!step.applied || !next_) co_return step.outcome();
    Task<Result<void>> passed_on = next_->bind(std::move(pod), std::move(node));
    Result<void> answered = co_await passed_on;
    co_return step.error ? step.outcome() : answered;
  }
  Task<Result<bool>> is_bound(Ref<const Pod> pod, std::string node, bool unanswered) override {
    looked_up.push_back(pod->full_name() + " on " + node + (unanswered ? " later" : ""));
    co_return bound_by_others;
  }
  Task<Result<std::string>> patch_status(Ref<const Pod> pod, PodStatusPatch patch) override {
    std::string text = "patch " + std::string(pod->name());
    if (patch.condition) text += " " + patch.condition->message;
    if (patch.nominated_node_name) text += " on \"" + *patch.nominated_node_name + "\"";
    if (!patch.version.empty()) text += " at " + patch.version;
    patches.emplace_back(pod->full_name(), patch);
    Task<Step> beginning = begin(std::move(text));
    const Step step = co_await beginning;
    if (!step.applied || !next_) {
      if (step.error) co_return fail(*step.error);
      co_return step.value;
    }
    Task<Result<std::string>> passed_on = next_->patch_status(std::move(pod), std::move(patch));
    Result<std::string> answered = co_await passed_on;
    if (step.error) co_return fail(*step.error);
    co_return answered;
  }
  Task<Result<void>> evict(Ref<const Pod> pod) override {
    evicted.push_back(pod->full_name());
    Task<Step> beginning = begin("evict " + std::string(pod->name()));
    const Step step = co_await beginning;
    if (!step.applied || !next_) co_return step.outcome();
    Task<Result<void>> passed_on = next_->evict(std::move(pod));
    Result<void> answered = co_await passed_on;
    co_return step.error ? step.outcome() : answered;
  }
  // Where nobody is next, the answer is the object in another version.
  Task<Result<AnyObject>> update(AnyObject object) override {
    Task<Step> beginning = begin(text_of("update", object));
    const Step step = co_await beginning;
    if (!step.applied && step.error) co_return fail(*step.error);
    if (!next_) co_return write(object);
    Task<Result<AnyObject>> passed_on = next_->update(std::move(object));
    Result<AnyObject> answered = co_await passed_on;
    if (step.error) co_return fail(*step.error);
    co_return answered;
  }
  Task<Result<AnyObject>> update_status(AnyObject object) override {
    Task<Step> beginning = begin(text_of("status", object));
    const Step step = co_await beginning;
    if (!step.applied && step.error) co_return fail(*step.error);
    Task<Result<AnyObject>> passed_on = next_ ? next_->update_status(std::move(object))
                                              : ClusterApi::update_status(std::move(object));
    Result<AnyObject> answered = co_await passed_on;
    if (step.error) co_return fail(*step.error);
    co_return answered;
  }
  Task<Result<AnyObject>> create(AnyObject object) override {
    Task<Step> beginning = begin(text_of("create", object));
    const Step step = co_await beginning;
    if (!step.applied && step.error) co_return fail(*step.error);
    Task<Result<AnyObject>> passed_on =
        next_ ? next_->create(std::move(object)) : ClusterApi::create(std::move(object));
    Result<AnyObject> answered = co_await passed_on;
    if (step.error) co_return fail(*step.error);
    co_return answered;
  }
  Task<Result<void>> remove(AnyObject object) override {
    Task<Step> beginning = begin(text_of("delete", object));
    const Step step = co_await beginning;
    if (!step.applied && step.error) co_return fail(*step.error);
    Task<Result<void>> passed_on =
        next_ ? next_->remove(std::move(object)) : ClusterApi::remove(std::move(object));
    Result<void> answered = co_await passed_on;
    co_return step.error ? step.outcome() : answered;
  }
  Task<Result<AnyObject>> get(ObjectKind kind, std::string space, std::string name) override {
    Task<Step> beginning = begin("get " + name);
    const Step step = co_await beginning;
    if (step.error) co_return fail(*step.error);
    Task<Result<AnyObject>> passed_on =
        next_ ? next_->get(kind, std::move(space), std::move(name)) : ClusterApi::get(kind, {}, {});
    Result<AnyObject> answered = co_await passed_on;
    co_return answered;
  }
  Task<Result<void>> unreserve_claim(Ref<const Object> claim, std::string consumer_uid) override {
    Task<Step> beginning = begin("unreserve " + claim->name);
    const Step step = co_await beginning;
    if (!step.applied && step.error) co_return fail(*step.error);
    Task<Result<void>> passed_on =
        next_ ? next_->unreserve_claim(std::move(claim), std::move(consumer_uid))
              : ClusterApi::unreserve_claim(std::move(claim), std::move(consumer_uid));
    Result<void> answered = co_await passed_on;
    co_return step.error ? step.outcome() : answered;
  }
  void record(PodEvent event) override { events.push_back(std::move(event)); }

 private:
  using Answer = Eventual<std::optional<Result<std::string>>>;  // nothing: go on
  struct Script {
    std::string which;
    std::move_only_function<void()> work;
    std::optional<Error> error;
    bool applied = true;
  };
  // What the test has said about a call.
  struct Step {
    bool applied = true;
    std::optional<Error> error;
    std::string value;

    Result<void> outcome() const { return error ? Result<void>(fail(*error)) : Result<void>(); }
  };
  // A call that waits; it may end while it does.
  struct Waiting {
    Waiting(RecordingApi& owner, std::shared_ptr<Answer> waits_for)
        : api(owner), answer(std::move(waits_for)) {}
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;
    ~Waiting() {
      if (std::erase_if(api.open_, [&](const Open& open) { return open.answer == answer; }) > 0)
        ++api.ended_early;
    }
    RecordingApi& api;
    std::shared_ptr<Answer> answer;
  };
  struct Open {
    std::string text;
    std::shared_ptr<Answer> answer;
  };

  static bool begins_with(std::string_view text, std::string_view which) {
    return text.starts_with(which) &&
           (which.empty() || text.size() == which.size() || text[which.size()] == ' ');
  }
  static std::string text_of(std::string verb, const AnyObject& any) {
    const auto* object = std::get_if<Ref<const Object>>(&any);
    if (!object || !*object) return verb;
    if (verb == "create" && (*object)->kind == ObjectKind::kResourceClaim)
      return verb + " " + static_cast<const ResourceClaim&>(**object).generate_name;
    return verb + " " + (*object)->name;
  }
  std::shared_ptr<Answer> take_open(std::string_view which) {
    const auto found = std::ranges::find_if(
        open_, [&](const Open& open) { return begins_with(open.text, which); });
    if (found == open_.end()) return nullptr;
    std::shared_ptr<Answer> answer = std::move(found->answer);
    open_.erase(found);
    return answer;
  }
  Task<Step> begin(std::string text) {
    calls.push_back(text);
    if (std::ranges::any_of(held_,
                            [&](const std::string& which) { return begins_with(text, which); })) {
      const auto answer = std::make_shared<Answer>();
      open_.push_back({text, answer});
      const Waiting waiting(*this, answer);
      std::optional<Result<std::string>> with = co_await *answer;
      if (with) {
        Step step;
        step.applied = false;
        if (*with)
          step.value = **with;
        else
          step.error = with->error();
        co_return step;
      }
    }
    const auto script = std::ranges::find_if(
        scripts_, [&](const Script& one) { return begins_with(text, one.which); });
    if (script == scripts_.end()) co_return Step{};
    Script now = std::move(*script);
    scripts_.erase(script);
    if (now.work) now.work();
    co_return Step{now.applied, now.error, {}};
  }
  Result<AnyObject> write(const AnyObject& any) {
    const auto* object = std::get_if<Ref<const Object>>(&any);
    const Ref<Object> copy = object && *object ? copy_of(**object) : nullptr;
    if (!copy) return any;
    copy->resource_version = std::to_string(100 + written.size());
    written.emplace_back(copy);
    return AnyObject(Ref<const Object>(copy));
  }

  ClusterApi* next_;
  std::deque<Script> scripts_;
  std::vector<std::string> held_;
  std::deque<Open> open_;
};

}  // namespace berth::testing
