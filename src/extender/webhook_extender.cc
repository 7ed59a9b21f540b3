#include "extender/webhook_extender.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "berth/task.h"
#include "extender/wire.h"

namespace berth::extender {
namespace {

constexpr Duration kDefaultTimeout = std::chrono::seconds(5);
constexpr int kOk = 200;

// Cancels what is asked when its time is up, unless it goes first.
class Deadline {
 public:
  Deadline(Loop& loop, Duration after)
      : loop_(loop), timer_(loop.after(after, [this] {
          timer_.reset();
          source_.cancel("its time is up");
        })) {}
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;
  ~Deadline() {
    if (timer_) loop_.cancel(*timer_);
  }

  CancelToken token() { return source_.token(); }
  bool passed() const { return source_.cancelled(); }

 private:
  Loop& loop_;
  CancelSource source_;
  std::optional<TimerId> timer_;
};

std::set<std::string, std::less<>> names_of(const std::vector<config::ManagedResource>& resources) {
  std::set<std::string, std::less<>> names;
  for (const config::ManagedResource& resource : resources) names.insert(resource.name);
  return names;
}

std::string url_of(std::string_view prefix, std::string_view verb) {
  while (prefix.ends_with('/')) prefix.remove_suffix(1);
  return fmt::format("{}/{}", prefix, verb);
}

}  // namespace

WebhookExtender::WebhookExtender(config::ExtenderConfig config, Loop& loop, KeptObjects& objects,
                                 std::unique_ptr<ExtenderTransport> transport,
                                 std::function<bool()> may_bind)
    : config_(std::move(config)),
      managed_(names_of(config_.managed_resources)),
      loop_(loop),
      objects_(objects),
      transport_(std::move(transport)),
      may_bind_(std::move(may_bind)) {}

bool WebhookExtender::interested_in(const Pod& pod) const {
  if (managed_.empty()) return true;
  const auto is_managed = [&](const ResourceAmount& amount) {
    return managed_.contains(pod.text(amount.name));
  };
  const auto asks = [&](const Container& container) {
    return std::ranges::any_of(container.requests, is_managed) ||
           std::ranges::any_of(container.limits, is_managed);
  };
  return std::ranges::any_of(pod.spec().containers, asks) ||
         std::ranges::any_of(pod.spec().init_containers, asks);
}

// ---- questions

Task<Result<ExtenderVerdicts>> WebhookExtender::filter(Ref<const Pod> pod,
                                                       std::vector<std::string> nodes) {
  Result<std::string> body = args(*pod, nodes);
  if (!body) co_return fail(body.error());
  Task<Result<std::string>> asking = ask(config_.filter_verb, *std::move(body));
  const Result<std::string> answer = co_await asking;
  if (!answer) co_return fail(answer.error());
  co_return read_filter_result(*answer, config_.node_cache_capable);
}

Task<Result<std::vector<ExtenderScore>>> WebhookExtender::prioritize(
    Ref<const Pod> pod, std::vector<std::string> nodes) {
  Result<std::string> body = args(*pod, nodes);
  if (!body) co_return fail(body.error());
  Task<Result<std::string>> asking = ask(config_.prioritize_verb, *std::move(body));
  const Result<std::string> answer = co_await asking;
  if (!answer) co_return fail(answer.error());
  co_return read_host_priorities(*answer);
}

Task<Result<void>> WebhookExtender::bind(Ref<const Pod> pod, std::string node) {
  Task<Result<std::string>> asking = ask(config_.bind_verb, binding_args(*pod, node), may_bind_);
  Result<std::string> answer = co_await asking;
  if (!answer && net::lost_connection(answer.error())) answer.error().kind = ErrorKind::kTimeout;
  if (!answer) co_return fail(std::move(answer.error()));
  co_return read_binding_result(*answer);
}

Task<Result<MetaVictimsByNode>> WebhookExtender::preempt(Ref<const Pod> pod,
                                                         VictimsByNode victims) {
  Result<std::string> body = args(*pod, victims);
  if (!body) co_return fail(body.error());
  Task<Result<std::string>> asking = ask(config_.preempt_verb, *std::move(body));
  const Result<std::string> answer = co_await asking;
  if (!answer) co_return fail(answer.error());
  co_return read_preemption_result(*answer);
}

// ---- requests

Result<std::string> WebhookExtender::whole(const Pod& pod) {
  std::optional<std::string> text = objects_.pod(pod);
  if (!text)
    return fail(ErrorKind::kNotFound, fmt::format("pod {} is not known in full", pod.full_name()));
  return *std::move(text);
}

Result<std::string> WebhookExtender::args(const Pod& pod, const std::vector<std::string>& nodes) {
  const Result<std::string> text = whole(pod);
  if (!text) return text;
  if (config_.node_cache_capable) return args_with_names(*text, nodes);
  std::vector<std::string_view> texts;
  texts.reserve(nodes.size());
  for (const std::string& name : nodes) {
    const std::optional<std::string_view> node = objects_.node(name);
    if (!node)
      return fail(ErrorKind::kNotFound, fmt::format("node \"{}\" is not known in full", name));
    texts.push_back(*node);
  }
  return args_with_nodes(*text, texts);
}

Result<std::string> WebhookExtender::args(const Pod& pod, const VictimsByNode& victims) {
  const Result<std::string> text = whole(pod);
  if (!text) return text;
  if (config_.node_cache_capable) {
    MetaVictimsByNode by_uid;
    for (const auto& [node, of_node] : victims) {
      ExtenderMetaVictims& meta = by_uid[node];
      meta.pdb_violations = of_node.pdb_violations;
      for (const Ref<const Pod>& victim : of_node.pods) meta.pod_uids.push_back(victim->uid_text());
    }
    return preemption_args(*text, by_uid);
  }
  std::vector<WholeVictims> in_full;
  for (const auto& [node, of_node] : victims) {
    WholeVictims& here = in_full.emplace_back();
    here.node = node;
    here.pdb_violations = of_node.pdb_violations;
    for (const Ref<const Pod>& victim : of_node.pods) {
      Result<std::string> pod_text = whole(*victim);
      if (!pod_text) return pod_text;
      here.pods.push_back(*std::move(pod_text));
    }
  }
  return preemption_args(*text, in_full);
}

Task<Result<std::string>> WebhookExtender::ask(const std::string& verb, std::string body,
                                               std::function<bool()> may_send) {
  const std::string url = url_of(config_.url_prefix, verb);
  Deadline deadline(
      loop_, config_.http_timeout == Duration::zero() ? kDefaultTimeout : config_.http_timeout);
  Task<Result<net::HttpResponse>> posting =
      transport_->post(url, std::move(body), deadline.token(), std::move(may_send));
  Result<net::HttpResponse> answer = co_await posting;
  if (!answer) {
    if (!deadline.passed()) co_return fail(answer.error());
    co_return fail(
        ErrorKind::kTimeout,
        net::error_prefix("POST", url) +
            "context deadline exceeded (Client.Timeout exceeded while awaiting headers)");
  }
  if (answer->status != kOk)
    co_return fail(
        ErrorKind::kUnavailable,
        fmt::format("failed {} with extender at URL {}, code {}", verb, url, answer->status));
  co_return std::move(answer->body);
}

}  // namespace berth::extender
