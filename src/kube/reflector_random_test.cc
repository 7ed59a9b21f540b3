// A server with a history, and nothing that it does to its clients is too mean: it cuts, forgets,
// repeats, refuses and lists anew, at random. What is built from the deltas must be what the server
// has in the end, and every delta must make sense when it comes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/testing/names.h"
#include "berth/pod.h"
#include "kube/reflectors.h"
#include "kube/testing/fake_api_client.h"
#include "kube/testing/watch_words.h"

namespace berth::kube::testing {
namespace {

struct Stored {
  std::string uid;
  std::uint64_t version = 0;
  friend bool operator==(const Stored&, const Stored&) = default;
};
using Store = std::map<std::string, Stored>;

// What somebody has who was told nothing but deltas.
class Mirror {
 public:
  void apply(const Delta& delta) {
    const Pod& pod = *std::get<Ref<const Pod>>(delta.object);
    const std::string name(pod.name());
    const Stored told{pod.uid_text(), std::stoull(std::string(pod.resource_version()))};
    const auto found = objects.find(name);
    const bool known = found != objects.end();
    switch (delta.type) {
      case DeltaType::kAdded:
        EXPECT_FALSE(known) << name << " was added twice";
        EXPECT_TRUE(ever.insert(told.uid).second) << name << " came back after it had gone";
        objects[name] = told;
        break;
      case DeltaType::kUpdated:
        ASSERT_TRUE(known) << name << " was updated before it was added";
        EXPECT_EQ(found->second.uid, told.uid) << name << " became somebody else";
        EXPECT_GT(told.version, found->second.version) << name << " did not change";
        found->second = told;
        break;
      case DeltaType::kDeleted:
        ASSERT_TRUE(known) << name << " was deleted before it was added";
        EXPECT_EQ(found->second.uid, told.uid) << "another " << name << " was deleted";
        objects.erase(found);
        break;
    }
    ++deltas;
  }

  Store objects;
  std::set<std::string> ever;  // UIDs
  std::size_t deltas = 0;
};

class MeanServer {
 public:
  MeanServer(FakeApiClient& client, VirtualLoop& loop, std::uint64_t seed)
      : client_(client),
        loop_(loop),
        random_(seed),
        words_(client.format()),
        streaming_(!random_.chance(0.3)) {}

  const Store& store() const { return store_; }
  bool chance(double probability) { return mean_ && random_.chance(probability); }
  void be_kind() { mean_ = false; }

  void change() {
    const std::string name = fmt::format("p{}", random_.below(12));
    const auto found = store_.find(name);
    const std::uint64_t version = version_ += 1 + random_.below(3);
    if (found == store_.end()) {
      const Stored made{fmt::format("uid-{}", version), version};
      store_.emplace(name, made);
      history_.emplace(version, Change{"ADDED", name, made});
    } else if (random_.chance(0.35)) {
      history_.emplace(version, Change{"DELETED", name, {found->second.uid, version}});
      store_.erase(found);
    } else {
      found->second.version = version;
      history_.emplace(version, Change{"MODIFIED", name, found->second});
    }
  }

  // Old changes are no longer to be had.
  void forget() { oldest_ = version_; }

  void serve() {
    for (; answered_ < client_.streams(); ++answered_) answer(answered_);
    for (Live& live : live_) tell(live);
    std::erase_if(live_, [this](const Live& live) { return stream(live.index).ended(); });
  }

 private:
  struct Change {
    std::string type;
    std::string name;
    Stored state;
  };
  struct Live {
    std::size_t index;
    std::uint64_t position;  // told up to here
  };
  struct Page {
    std::vector<std::string> items;
    std::uint64_t version;
  };

  FakeApiClient::Stream& stream(std::size_t index) { return client_.stream_at(index); }
  static std::string json(const std::string& name, const Stored& state) {
    return pod_json(name, state.version, state.uid);
  }
  std::string event(const Change& change) const {
    return words_.event(change.type, json(change.name, change.state));
  }

  // In pieces; false if the connection was lost on the way.
  bool send(std::size_t index, std::string_view bytes) {
    const std::size_t sent = chance(0.05) ? random_.below(bytes.size() + 1) : bytes.size();
    for (std::size_t at = 0; at < sent;) {
      const std::size_t piece = std::min<std::size_t>(1 + random_.below(200), sent - at);
      stream(index).chunk(bytes.substr(at, piece));
      at += piece;
      if (chance(0.1)) loop_.run_until(loop_.now());
      if (stream(index).ended()) return false;
    }
    if (sent == bytes.size()) return true;
    stream(index).end(random_.chance(0.5)
                          ? Result<void>()
                          : Result<void>(fail(ErrorKind::kUnavailable, "connection reset")));
    return false;
  }

  void refuse(std::size_t index, int code, std::string_view reason) {
    stream(index).begin(code, words_.body_type());
    stream(index).chunk(words_.body(status_json(code, reason, "no")));
    stream(index).end();
  }

  void answer(std::size_t index) {
    if (stream(index).ended()) return;
    std::map<std::string, std::string> query;
    const std::string path = stream(index).call().path;
    for (auto& [name, value] : net::parse_query(path.substr(path.find('?') + 1)))
      query[name] = value;
    if (chance(0.1)) return stream(index).end(fail(ErrorKind::kUnavailable, "refused"));
    if (chance(0.05)) return refuse(index, 429, "TooManyRequests");
    if (chance(0.05)) return refuse(index, 500, "InternalError");
    if (query.contains("sendInitialEvents")) return answer_streaming_list(index, query);
    if (query.contains("watch")) return answer_watch(index, query);
    answer_list(index, query);
  }

  void answer_streaming_list(std::size_t index, std::map<std::string, std::string>& query) {
    if (!streaming_) return refuse(index, 422, "Invalid");
    if (query.contains("resourceVersion") && chance(0.2)) return refuse(index, 410, "Expired");
    stream(index).begin(200, words_.watch_type());
    std::uint64_t position = version_;
    const Store snapshot = store_;
    for (const auto& [name, state] : snapshot) {
      if (!send(index, words_.event("ADDED", json(name, state)))) return;
      if (chance(0.1)) change();
    }
    // Some of what happened meanwhile comes before the end of the list.
    while (const Change* next = after(position)) {
      if (chance(0.5)) break;
      if (!send(index, event(*next))) return;
      position = next->state.version;
    }
    if (!send(index, words_.bookmark("Pod", position, true))) return;
    live_.push_back({index, position});
  }

  void answer_watch(std::size_t index, std::map<std::string, std::string>& query) {
    const std::uint64_t from = std::stoull(query["resourceVersion"]);
    if (from < oldest_) {
      if (random_.chance(0.5)) return refuse(index, 410, "Expired");
      stream(index).begin(200, words_.watch_type());
      stream(index).chunk(words_.event("ERROR", status_json(410, "Expired", "too old")));
      return;
    }
    stream(index).begin(200, words_.watch_type());
    // Sometimes it begins with what was told before.
    const std::uint64_t back = chance(0.3) ? random_.below(10) : 0;
    live_.push_back({index, std::max(oldest_, from - std::min(from, back))});
  }

  void answer_list(std::size_t index, std::map<std::string, std::string>& query) {
    Page page;
    if (query.contains("continue")) {
      if (chance(0.15)) return refuse(index, 410, "Expired");
      page = pages_.at(query["continue"]);
    } else {
      const std::string& at = query["resourceVersion"];
      if (!at.empty() && at != "0" && chance(0.2)) return refuse(index, 410, "Expired");
      page.version = version_;
      for (const auto& [name, state] : store_) page.items.push_back(json(name, state));
    }
    std::string token;
    if (query.contains("limit")) {
      const std::size_t limit = std::stoull(query["limit"]);
      if (page.items.size() > limit) {
        token = fmt::format("token-{}", pages_.size());
        const auto cut = page.items.begin() + static_cast<std::ptrdiff_t>(limit);
        pages_[token] = {{cut, page.items.end()}, page.version};
        page.items.erase(cut, page.items.end());
      }
    }
    stream(index).begin(200, words_.body_type());
    if (send(index, words_.list("Pod", page.version, page.items, token))) stream(index).end();
  }

  const Change* after(std::uint64_t position) const {
    const auto next = history_.upper_bound(position);
    return next == history_.end() ? nullptr : &next->second;
  }

  void tell(Live& live) {
    if (stream(live.index).ended()) return;
    while (const Change* next = after(live.position)) {
      if (chance(0.2)) return;
      if (!send(live.index, event(*next))) return;
      if (chance(0.05) && !send(live.index, event(*next))) return;
      live.position = next->state.version;
    }
    live.position = version_;
    if (random_.chance(0.3) && !send(live.index, words_.bookmark("Pod", version_))) return;
    if (chance(0.1)) stream(live.index).end();
    if (chance(0.05) && !stream(live.index).ended())
      stream(live.index).chunk(words_.event("ERROR", status_json(410, "Expired", "too old")));
  }

  FakeApiClient& client_;
  VirtualLoop& loop_;
  Random random_;
  WatchWords words_;
  const bool streaming_;
  bool mean_ = true;
  Store store_;
  std::map<std::uint64_t, Change> history_;
  std::uint64_t version_ = 100;
  std::uint64_t oldest_ = 100;
  std::size_t answered_ = 0;
  std::vector<Live> live_;
  std::map<std::string, Page> pages_;
};

struct Outcome {
  Store wanted;
  Store got;
  std::size_t deltas = 0;
  bool synced = false;
};

Outcome play(std::uint64_t seed) {
  VirtualLoop loop;
  Interner interner;
  FakeApiClient client(loop, seed % 2 == 0 ? BodyFormat::kProtobuf : BodyFormat::kJson);
  std::string log_text;
  auto output = std::make_shared<telemetry::LogOutput>(
      telemetry::LogOptions{}, [&loop] { return loop.wall_now(); },
      std::make_unique<telemetry::StringSink>(log_text));
  Random random(seed);
  MeanServer server(client, loop, random.next());
  Mirror mirror;
  ReflectorOptions each;
  each.page_size = 3;
  each.limits.max_waiting = 5 + random.below(20);
  Reflectors reflectors(loop, client, interner, random.fork(), telemetry::Log(std::move(output)),
                        {{{ObjectKind::kPod, "v1", "Pod", "pods", "", {"core"}}}, each},
                        [&mirror](const Delta& delta) { mirror.apply(delta); });
  reflectors.start();
  for (int i = 0; i < 150; ++i) {
    for (std::uint64_t changes = random.below(4); changes > 0; --changes) server.change();
    if (random.chance(0.1)) server.forget();
    if (random.chance(0.8)) server.serve();
    if (random.chance(0.7)) loop.run_until(loop.now());
    if (random.chance(0.4)) loop.run_until(loop.now() + milliseconds(random.below(4000)));
  }
  server.be_kind();
  for (int i = 0; i < 20; ++i) {
    server.serve();
    loop.run_until(loop.now() + seconds(10));
  }
  return {server.store(), mirror.objects, mirror.deltas, reflectors.synced()};
}

TEST(ReflectorRandom, WhatTheDeltasMakeIsWhatTheServerHas) {
  std::size_t deltas = 0;
  for (std::uint64_t seed = 1; seed <= 300 && !HasFailure(); ++seed) {
    const Outcome outcome = play(seed);
    EXPECT_TRUE(outcome.synced) << "seed " << seed;
    EXPECT_TRUE(outcome.wanted == outcome.got) << "seed " << seed;
    deltas += outcome.deltas;
  }
  EXPECT_GT(deltas, 20'000U) << "it was too quiet to mean anything";
}

TEST(ReflectorRandom, TheSameSeedIsTheSameRun) {
  const Outcome once = play(17);
  const Outcome twice = play(17);
  EXPECT_EQ(once.deltas, twice.deltas);
  EXPECT_TRUE(once.got == twice.got);
}

}  // namespace
}  // namespace berth::kube::testing
