// A bug is planted for each of the invariants of a ChaosRun, and must be found.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "chaos_run.h"
#include "memapi/json_edit.h"
#include "tests/simulation/manifests.h"
#include "token_folder.h"

namespace berth::chaos {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

// Passes calls on as a buggy client would.
class BuggyTransport : public net::HttpTransport {
 public:
  BuggyTransport(std::unique_ptr<net::HttpTransport> sound, VirtualLoop& loop)
      : sound_(std::move(sound)), loop_(loop) {}
  net::HttpCallId stream(net::HttpCall call, net::HttpStreamCallbacks callbacks) override {
    return sound_->stream(std::move(call), std::move(callbacks));
  }
  void cancel(net::HttpCallId id) override { sound_->cancel(id); }
  void set_tls(net::TlsClientSettings settings) override { sound_->set_tls(std::move(settings)); }

 protected:
  static bool has(const net::HttpCall& call, std::string_view method, std::string_view part) {
    return call.method == method && call.url.contains(part);
  }
  std::unique_ptr<net::HttpTransport> sound_;
  VirtualLoop& loop_;
};

// Takes every renewal for done and sends none after the first.
class BelievesInItsLease final : public BuggyTransport {
 public:
  using BuggyTransport::BuggyTransport;
  net::HttpCallId send(net::HttpCall call,
                       std::function<void(Result<net::HttpResponse>)> done) override {
    if (!has(call, "PUT", "/leases/")) return sound_->send(std::move(call), std::move(done));
    if (renewed_) {
      loop_.after(std::chrono::milliseconds(5),
                  [done = std::move(done), this] { done(*renewed_); });
      return 0;
    }
    return sound_->send(std::move(call),
                        [this, done = std::move(done)](Result<net::HttpResponse> answer) {
                          if (answer && answer->status == 200) renewed_ = *answer;
                          done(std::move(answer));
                        });
  }

 private:
  std::optional<net::HttpResponse> renewed_;
};

// Sends something else in place of a request.
class Confused final : public BuggyTransport {
 public:
  using Change = std::function<void(net::HttpCall&)>;
  Confused(std::unique_ptr<net::HttpTransport> sound, VirtualLoop& loop, Change change)
      : BuggyTransport(std::move(sound), loop), change_(std::move(change)) {}
  net::HttpCallId send(net::HttpCall call,
                       std::function<void(Result<net::HttpResponse>)> done) override {
    change_(call);
    return sound_->send(std::move(call), std::move(done));
  }

 private:
  const Change change_;
};

Planted confused(Confused::Change change) {
  Planted planted;
  planted.transport = [change = std::move(change)](std::unique_ptr<net::HttpTransport> sound,
                                                   VirtualLoop& loop) {
    return std::make_unique<Confused>(std::move(sound), loop, change);
  };
  return planted;
}

Planted at_rest(std::function<void(SimulatedServer&, Engine&)> plant) {
  Planted planted;
  planted.at_rest = std::move(plant);
  return planted;
}

// Whether one of some seeds finds it.
void expect_found(const Planted& planted, std::string_view words) {
  const TokenFolder folder;
  std::vector<std::string> found;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const ChaosReport report = ChaosRun(seed, folder.path(), planted).run();
    found.insert(found.end(), report.violations.begin(), report.violations.end());
    for (const std::string& violation : report.violations)
      if (violation.contains(words)) return;
  }
  EXPECT_THAT(found, Contains(HasSubstr(std::string(words))));
}

// As the server's own controllers would write it.
void edit_status(SimulatedServer& server, const memapi::Resource& resource,
                 const memapi::ObjectRef& object, const memapi::LocalClient::Edit& edit) {
  static_cast<void>(
      server.local().update_status(resource, object->namespace_name, object->name, edit));
}

memapi::ObjectRef bound_pod(SimulatedServer& server) {
  for (const memapi::ObjectRef& pod : server.local().list(memapi::resource_of("pods")))
    if (!memapi::text_at(pod->tree(), "spec.nodeName").empty()) return pod;
  return nullptr;
}

TEST(PlantedChaos, AWriteWithoutTheLeaseIsFound) {
  Planted planted;
  planted.transport = [](std::unique_ptr<net::HttpTransport> sound, VirtualLoop& loop) {
    return std::make_unique<BelievesInItsLease>(std::move(sound), loop);
  };
  expect_found(planted, "its last renewal plus the renew deadline");
}

TEST(PlantedChaos, AWriteOfSomebodyWhoNeverLedIsFound) {
  expect_found(confused([](net::HttpCall& call) {
                 if (call.method == "PUT" && call.url.contains("/leases/")) call.method = "PATCH";
                 if (call.method == "GET" && call.url.contains("/leases/")) {
                   call.method = "DELETE";
                   call.url = "https://10.0.0.1:6443/api/v1/namespaces/default/pods/p1";
                 }
               }),
               "without the lease");
}

TEST(PlantedChaos, ADeletionThatNobodyDecidedIsFound) {
  expect_found(confused([](net::HttpCall& call) {
                 if (call.method != "PATCH" || !call.url.ends_with("/status")) return;
                 call.method = "DELETE";
                 call.url.resize(call.url.size() - std::string_view("/status").size());
                 call.body.clear();
               }),
               "which nobody preempts");
}

TEST(PlantedChaos, ANobodyThatLeadsIsFound) {
  expect_found(confused([](net::HttpCall& call) {
                 if (call.method != "GET" && call.url.contains("/leases")) call.method = "PATCH";
               }),
               "0 schedulers lead");
}

TEST(PlantedChaos, APodThatIsBoundTwiceIsFound) {
  Planted planted;
  planted.server = [](const net::HttpHandler& sound) -> net::HttpHandler {
    return [sound](net::HttpRequest request, std::shared_ptr<net::HttpResponder> responder) {
      if (request.target.ends_with("/binding")) return responder->respond({201, {}, "{}"});
      sound(std::move(request), std::move(responder));
    };
  };
  expect_found(planted, "was bound twice");
}

TEST(PlantedChaos, AnOvercommittedNodeIsFound) {
  expect_found(
      at_rest([](SimulatedServer& server, Engine&) {
        server.put(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"large","namespace":)"
                   R"("default"},"spec":{"nodeName":"n1","containers":[{"name":"c","image":"i",)"
                   R"("resources":{"requests":{"cpu":"60"}}}]}})");
      }),
      "its pods ask for");
}

TEST(PlantedChaos, ADeviceOfTwoClaimsIsFound) {
  expect_found(at_rest([](SimulatedServer& server, Engine&) {
                 const auto& claims = memapi::resource_of("resourceclaims", "resource.k8s.io");
                 std::optional<JsonValue> status;
                 for (const memapi::ObjectRef& claim : server.local().list(claims))
                   if (const JsonValue tree = claim->tree();
                       memapi::at(tree, "status.allocation") != nullptr)
                     status = *memapi::at(tree, "status.allocation");
                 if (!status) return;
                 for (const memapi::ObjectRef& claim : server.local().list(claims))
                   edit_status(
                       server, claims, claim, [&](JsonValue& object) -> memapi::Answer<void> {
                         memapi::set(memapi::object_at(object, "status"), "allocation", *status);
                         return {};
                       });
               }),
               "device ");
}

TEST(PlantedChaos, AVolumeOfTwoClaimsIsFound) {
  expect_found(at_rest([](SimulatedServer& server, Engine&) {
                 for (const char* name : {"one", "two"})
                   server.put(fmt::format(
                       R"({{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{{"name":)"
                       R"("{}","namespace":"default"}},"spec":{{"storageClassName":"none",)"
                       R"("volumeName":"same","accessModes":["ReadWriteOnce"],"resources":)"
                       R"({{"requests":{{"storage":"1Gi"}}}}}}}})",
                       name));
               }),
               "volume same");
}

TEST(PlantedChaos, AConditionThatIsNotTrueIsFound) {
  expect_found(at_rest([](SimulatedServer& server, Engine&) {
                 const memapi::ObjectRef pod = bound_pod(server);
                 if (!pod) return;
                 edit_status(server, memapi::resource_of("pods"), pod,
                             [](JsonValue& object) -> memapi::Answer<void> {
                               for (JsonValue& condition :
                                    memapi::array_at(object, "status.conditions").items)
                                 memapi::set_text(condition, "status", "False");
                               return {};
                             });
               }),
               "is bound, and its condition says");
}

TEST(PlantedChaos, ANominationThatNobodyMadeIsFound) {
  expect_found(at_rest([](SimulatedServer& server, Engine&) {
                 const memapi::ObjectRef pod = bound_pod(server);
                 if (!pod) return;
                 edit_status(server, memapi::resource_of("pods"), pod,
                             [](JsonValue& object) -> memapi::Answer<void> {
                               memapi::set_text(memapi::object_at(object, "status"),
                                                "nominatedNodeName", "n7");
                               return {};
                             });
               }),
               "is bound and nominated to");
}

TEST(PlantedChaos, AWaitThatDoesNotEndIsFound) {
  Planted planted;
  planted.doctored = [](simulation::History& history) { history.waits["default/p1"].started += 1; };
  expect_found(planted, "every wait is settled once");
}

TEST(PlantedChaos, APodThatASchedulerForgetsIsFound) {
  expect_found(at_rest([](SimulatedServer& server, Engine& leading) {
                 for (const Ref<const Pod>& pod : server.pods())
                   leading.apply({DeltaType::kDeleted, pod});
               }),
               "is stored and not seen");
}

TEST(PlantedChaos, APodThatFitsAndIsNotBoundIsFound) {
  expect_found(
      at_rest([](SimulatedServer& server, Engine&) {
        server.put(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"small","namespace":)"
                   R"("default"},"spec":{"tolerations":[{"operator":"Exists"}],"containers":)"
                   R"([{"name":"c","image":"i"}]}})");
      }),
      "is not bound and fits on");
}

}  // namespace
}  // namespace berth::chaos
