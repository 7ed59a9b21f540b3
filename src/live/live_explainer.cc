#include "live/live_explainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "api/decode.h"
#include "api/written_pod.h"
#include "explain/alike_pods.h"
#include "explain/explainer.h"
#include "explain/patched_object.h"

namespace berth::live {
namespace {

bool is_named(const std::string& name) {
  const std::size_t slash = name.find('/');
  return slash != std::string::npos && slash > 0 && slash + 1 < name.size() &&
         name.find('/', slash + 1) == std::string::npos;
}

std::string place_of(const SchedulingQueue& queue, const Pod& pod) {
  const QueuedPod* const queued = queue.find(pod);
  switch (queue.place(pod)) {
    case QueuePlace::kActive: return "active";
    case QueuePlace::kBackoff:
    case QueuePlace::kErrorBackoff: return "backoff";
    case QueuePlace::kUnschedulable: return queued->gated() ? "gated" : "unschedulable";
    case QueuePlace::kNowhere: break;
  }
  return queue.in_flight(pod.uid()) ? "inFlight" : "none";
}

}  // namespace

LiveExplainer::LiveExplainer(Loop& loop, Engine& engine, Interner& interner,
                             const PluginTable& plugins, ObjectSource& objects,
                             LiveExplainerOptions options)
    : loop_(loop),
      engine_(engine),
      interner_(interner),
      plugins_(plugins),
      objects_(objects),
      options_(std::move(options)),
      worker_(std::in_place, "explain") {}

LiveExplainer::~LiveExplainer() {
  if (current_) current_->objects->end();
  worker_.reset();  // waits for the question that it works on
  tasks_.clear();
  if (drop_timer_) loop_.cancel(*drop_timer_);
}

// ---- questions ------------------------------------------------------------------------------------

std::optional<LiveExplainer::Id> LiveExplainer::ask(explain::Question question, Done done) {
  if (waiting_.size() >= options_.most_waiting) return std::nullopt;
  const Id id = ++last_id_;
  auto fetch = [this, watch = lifetime_.watch(), id](const AskedObjects::Key& key) {
    loop_.post([this, watch, id, key] {
      if (watch.ended() || !current_ || current_->id != id) return;
      tasks_.spawn([](ObjectSource& source, std::shared_ptr<AskedObjects> objects,
                      AskedObjects::Key wanted) -> Task<void> {
        Task<std::optional<std::string>> getting =
            source.get(wanted.kind, wanted.namespace_name, wanted.name);
        std::optional<std::string> json = co_await getting;
        objects->answer(wanted, std::move(json));
      }(objects_, current_->objects, key));
    });
  };
  waiting_.push_back(
      {id, std::move(question), std::move(done), std::make_shared<AskedObjects>(std::move(fetch))});
  loop_.post(lifetime_.guard([this] { begin_next(); }));
  return id;
}

void LiveExplainer::give_up(Id id) {
  if (current_ && current_->id == id) return current_->objects->end();
  std::erase_if(waiting_, [id](const Asking& asking) { return asking.id == id; });
}

LiveExplainer::Door LiveExplainer::door(std::function<Result<void>()> ready) {
  return [this, &loop = loop_, watch = lifetime_.watch(), ready = std::move(ready)](
             explain::Question question,
             std::function<void(std::optional<explain::Answer>)> done) -> std::function<void()> {
    // The world's to read and write.
    struct State {
      std::optional<Id> id;
      bool given_up = false;
    };
    const auto state = std::make_shared<State>();
    loop.post([this, watch, ready, state, question = std::move(question), done = std::move(done)] {
      if (watch.ended() || state->given_up) return;
      if (const Result<void> is_ready = ready(); !is_ready) return done(fail(is_ready.error()));
      state->id = ask(question, [done](explain::Answer answer) { done(std::move(answer)); });
      if (!state->id) done(std::nullopt);
    });
    return [this, &loop, watch, state] {
      loop.post([this, watch, state] {
        state->given_up = true;
        if (state->id && !watch.ended()) give_up(*state->id);
      });
    };
  };
}

void LiveExplainer::begin_next() {
  if (current_ || waiting_.empty()) return;
  if (drop_timer_) loop_.cancel(*drop_timer_);
  drop_timer_.reset();
  current_ = std::move(waiting_.front());
  waiting_.pop_front();
  wanted_ = current_->objects;
  tasks_.spawn(work());
}

Task<void> LiveExplainer::work() {
  Task<explain::Answer> answering = answer(current_->question, *current_->objects);
  explain::Answer answered = co_await answering;
  const Asking asking = std::move(*current_);
  current_.reset();
  new_pod_ = {};
  if (asking.objects->ended())
    copies_.clear();  // what was being tried there was left as it was
  else
    asking.done(std::move(answered));
  drop_copies_later();
  loop_.post(lifetime_.guard([this] { begin_next(); }));
}

void LiveExplainer::drop_copies_later() {
  drop_timer_ = loop_.after(
      options_.copies_live,
      [this] {
        drop_timer_.reset();
        copies_.clear();
      },
      TimerKind::kHousekeeping);
}

// ---- an answer ------------------------------------------------------------------------------------

Task<explain::Answer> LiveExplainer::answer(const explain::Question& question,
                                            AskedObjects& objects) {
  std::vector<Ref<const Pod>> named;
  if (!question.new_pod.empty()) {
    Task<Result<void>> reading = read_new_pod(question, objects);
    if (Result<void> read = co_await reading; !read) co_return fail(read.error());
    named.push_back(new_pod_);
  }
  for (const std::string& name : question.pods) {
    Result<Ref<const Pod>> pod = find_pod(name);
    if (!pod) co_return fail(pod.error());
    named.push_back(*std::move(pod));
  }
  std::set<std::string> profiles;
  for (const Ref<const Pod>& pod : named) profiles.insert(profile_of(*pod));
  if (question.all_pending)
    for (const config::Profile& profile : options_.configuration.profiles)
      profiles.insert(profile.scheduler_name);

  std::vector<explain::Explanation> explanations;
  for (const std::string& profile : profiles) {
    Task<Result<WorldCopy*>> copying = fresh_copy(profile, objects);
    Result<WorldCopy*> copy = co_await copying;
    if (!copy) co_return fail(copy.error());
    // From here to the search nothing changes: the pods are those of the copy.
    std::vector<Asked> pods = question.all_pending ? pending_pods(profile) : std::vector<Asked>();
    for (const Ref<const Pod>& pod : named) {
      if (profile_of(*pod) != profile) continue;
      if (pod == new_pod_) {
        pods.push_back({pod, {}, {}, {}});
        continue;
      }
      Result<Ref<const Pod>> found = find_pod(pod->full_name());
      if (!found) co_return fail(found.error());
      pods.push_back(asked(*std::move(found)));
    }
    Task<explain::Answer> explaining = explain(question, std::move(pods), **copy, objects);
    explain::Answer some = co_await explaining;
    if (!some) co_return some;
    std::ranges::move(*some, std::back_inserter(explanations));
  }
  // In the order in which they were asked about; all of them by name.
  const auto place = [&](const explain::Explanation& explanation) {
    const auto found = std::ranges::find(
        named, explanation.pod, [](const Ref<const Pod>& pod) { return pod->full_name(); });
    return std::pair(found - named.begin(), explanation.pod);
  };
  std::ranges::sort(explanations, {}, place);
  co_return explanations;
}

// The pod as an API server would store it. Of priority classes only the one that it names is asked
// for.
Task<Result<void>> LiveExplainer::read_new_pod(const explain::Question& question,
                                               AskedObjects& objects) {
  const auto wrong = [](const std::string& message) {
    return fail(ErrorKind::kInvalid, fmt::format("the pod that was sent: {}", message));
  };
  const Result<JsonValue> json = parse_json(question.new_pod);
  if (!json) co_return wrong(json.error().message);
  if (object_kind(explain::text_at(*json, {"apiVersion"}), explain::text_at(*json, {"kind"})) !=
      ObjectKind::kPod)
    co_return wrong("its apiVersion and kind are to be v1 and Pod");
  Result<WrittenPod> written = decode_written_pod(question.new_pod, interner_);
  if (!written) co_return wrong(written.error().message);
  admission_ = {};
  admission_.now = loop_.wall_now();
  if (const std::string name(explain::text_at(*json, {"spec", "priorityClassName"}));
      !name.empty()) {
    Task<std::optional<std::string>> getting = objects_.get("PriorityClass", "", name);
    const std::optional<std::string> text = co_await getting;
    const Result<AnyObject> decoded =
        text ? decode_object(ObjectKind::kPriorityClass, *text, interner_, nullptr, name)
             : Result<AnyObject>(AnyObject());
    if (decoded)
      if (const auto* object = std::get_if<Ref<const Object>>(&*decoded))
        admission_.priority_classes[name] =
            Ref<const PriorityClass>(static_cast<const PriorityClass*>(object->get()));
  }
  if (written->own.name.empty()) written->own.name = written->generate_name + "new";
  if (const Result<void> admitted = admit(*written, admission_); !admitted)
    co_return wrong(admitted.error().message);
  if (!written->own.node_name.empty()) co_return wrong("it has a node already (spec.nodeName)");
  written->own.uid = deterministic_uid("Pod", "a question", written->own.name);
  new_pod_ = freeze(*std::move(written), interner_);
  if (const Ref<const Pod> known = engine_.cluster().seen_pod(*new_pod_);
      known && !known->node().empty())
    co_return fail(
        ErrorKind::kConflict,
        fmt::format("pod {} is on node {} already: to judge another one like it, give it "
                    "another name",
                    known->full_name(), known->node_name()));
  objects.answer({"Pod", std::string(new_pod_->namespace_name()), std::string(new_pod_->name())},
                 question.new_pod);
  co_return Result<void>();
}

Result<LiveExplainer::WorldCopy*> LiveExplainer::copy_for(const std::string& profile) {
  WorldCopy& copy = copies_[profile];
  if (copy.cluster) return &copy;
  explain::EvaluatorOptions how;
  how.configuration = options_.configuration;
  how.gates = options_.gates;
  how.profile = profile;
  how.preempt = true;
  how.go_on = [this] { return !wanted_->ended(); };
  Result<std::unique_ptr<explain::Evaluator>> evaluator =
      explain::Evaluator::make(interner_, plugins_, std::move(how));
  if (!evaluator) return fail(evaluator.error());
  copy.evaluator = *std::move(evaluator);
  copy.cluster.emplace(engine_.cluster(), engine_.queue(), engine_.framework(profile),
                       *copy.evaluator);
  return &copy;
}

Task<Result<LiveExplainer::WorldCopy*>> LiveExplainer::fresh_copy(std::string profile,
                                                                  const AskedObjects& objects) {
  const Result<WorldCopy*> copy = copy_for(profile);
  if (!copy) co_return copy;
  for (;;) {
    const TimePoint begin = loop_.tick();
    const auto time_left = [&] { return loop_.tick() - begin < options_.slice; };
    if ((*copy)->cluster->catch_up(loop_.wall_now(), time_left)) co_return copy;
    co_await SleepUntil(loop_, loop_.now() + options_.slice);
    if (objects.ended()) co_return fail(ErrorKind::kCancelled, "the question was given up");
  }
}

Task<explain::Answer> LiveExplainer::explain(const explain::Question& question,
                                             std::vector<Asked> asked, WorldCopy& copy,
                                             AskedObjects& objects) {
  Eventual<explain::Answer> answered;
  // On the worker's thread, which has the copy for itself.
  const auto search = [&] {
    explain::Explainer explainer(
        *copy.evaluator,
        {.texts = question.suggestions ? &objects : nullptr, .nodes = question.nodes});
    std::vector<explain::Explanation> explanations;
    for (Asked& about : asked) {
      if (objects.ended()) break;
      explain::Explanation explanation =
          explainer.explain(about.pod, about.pod == new_pod_ ? &admission_ : nullptr);
      explanation.alike = std::move(about.alike);
      explanation.queue = std::move(about.queue);
      explanation.permit = std::move(about.permit);
      if (explanation.permit) explanation.verdict = "WaitingOnPermit";
      if (!is_ours(*about.pod))
        explanation.notes.push_back(
            fmt::format("its schedulerName is {}, which is not this scheduler's: judged as {}",
                        about.pod->text(about.pod->scheduler_name()), profile_of(*about.pod)));
      if (!options_.configuration.extenders.empty())
        explanation.notes.emplace_back("extenders are not asked");
      explanations.push_back(std::move(explanation));
    }
    return explanations;
  };
  auto finished =
      lifetime_.guard([&answered](explain::Answer answer) { answered.set(std::move(answer)); });
  worker_->start([this, search, finished = std::move(finished)](const std::atomic<bool>&) mutable {
    loop_.post([finished = std::move(finished), explanations = search()]() mutable {
      finished(std::move(explanations));
    });
  });
  explain::Answer answer = co_await answered;
  co_return answer;
}

// ---- pods -----------------------------------------------------------------------------------------

Result<Ref<const Pod>> LiveExplainer::find_pod(const std::string& name) const {
  if (!is_named(name))
    return fail(ErrorKind::kInvalid, fmt::format("\"{}\" is not NAMESPACE/NAME", name));
  const std::size_t slash = name.find('/');
  const std::string_view text = name;
  Ref<const Pod> pod = engine_.cluster().seen_pod(text.substr(0, slash), text.substr(slash + 1));
  if (!pod) return fail(ErrorKind::kNotFound, fmt::format("pod \"{}\" not found", name));
  if (pod->finished())
    return fail(ErrorKind::kInvalid, fmt::format("pod {} has finished: it needs no node", name));
  return pod;
}

bool LiveExplainer::is_ours(const Pod& pod) const {
  return std::ranges::count(options_.configuration.profiles, pod.text(pod.scheduler_name()),
                            &config::Profile::scheduler_name) > 0;
}

std::string LiveExplainer::profile_of(const Pod& pod) const {
  return is_ours(pod) ? std::string(pod.text(pod.scheduler_name()))
                      : options_.configuration.profiles.front().scheduler_name;
}

// Those that are being bound have a node.
std::vector<LiveExplainer::Asked> LiveExplainer::pending_pods(const std::string& profile) const {
  std::map<std::string, std::vector<Ref<const Pod>>> by_place;  // not alike if they are elsewhere
  std::vector<Asked> held;
  engine_.cluster().for_each_seen([&](const Ref<const Pod>& pod) {
    if (!pod->node().empty() || pod->finished() || !is_ours(*pod) || profile_of(*pod) != profile)
      return;
    if (engine_.cluster().row_of(pod->uid()) == kNoRow)
      by_place[place_of(engine_.queue(), *pod)].push_back(pod);
    else if (engine_.waiting_pods().contains(pod->uid()))
      held.push_back(asked(pod));
  });
  std::vector<Asked> all = std::move(held);
  for (auto& [place, pods] : by_place) {
    std::ranges::sort(pods, {}, [](const Ref<const Pod>& pod) { return pod->full_name(); });
    for (const std::vector<std::size_t>& group : explain::alike_pods(pods)) {
      Asked& first = all.emplace_back(asked(pods[group.front()]));
      for (std::size_t i = 1; i < group.size(); ++i)
        first.alike.push_back(pods[group[i]]->full_name());
    }
  }
  return all;
}

LiveExplainer::Asked LiveExplainer::asked(Ref<const Pod> pod) const {
  const SchedulingQueue& queue = engine_.queue();
  Asked about;
  if (!pod->node().empty()) {
    about.pod = std::move(pod);
    return about;
  }
  about.queue = explain::Explanation::Queue();
  explain::Explanation::Queue& place = *about.queue;
  place.place = place_of(queue, *pod);
  if (const QueuedPod* const queued = queue.find(*pod)) {
    place.since = queued->timestamp;
    place.attempts = queued->attempts;
    place.rejected_by.assign(queued->unschedulable_plugins.begin(),
                             queued->unschedulable_plugins.end());
    place.rejected_by.insert(place.rejected_by.end(), queued->pending_plugins.begin(),
                             queued->pending_plugins.end());
    if (queued->gated()) place.rejected_by = {queued->gating_plugin};
  }
  place.until = queue.waits_until(*pod);
  place.missed = queue.missed_events(pod->uid());
  if (const std::optional<WaitingPod> waiting = engine_.waiting_pods().find(pod->uid())) {
    place.place = "waitingOnPermit";
    about.permit = explain::Explanation::Permit();
    explain::Explanation::Permit& permit = *about.permit;
    permit.node = waiting->node_name;
    permit.since = waiting->since;
    for (std::size_t i = 0; i < waiting->pending_plugins.size(); ++i)
      permit.holders.push_back({waiting->pending_plugins[i], waiting->until[i]});
  } else if (engine_.cluster().row_of(pod->uid()) != kNoRow) {
    place.place = "binding";
  }
  about.pod = std::move(pod);
  return about;
}

}  // namespace berth::live
