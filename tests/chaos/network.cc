#include "network.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "memapi/json_edit.h"
#include "wire/json_tree.h"

namespace berth::chaos {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kNever = std::numeric_limits<std::size_t>::max();
// When a client notices that nobody is there any more (its pings are not answered).
constexpr Duration kNoticed = 20s;

std::string_view without_host(std::string_view url) {
  const std::size_t scheme = url.find("://");
  return scheme == std::string_view::npos ? url : url.substr(url.find('/', scheme + 3));
}

bool is_watch(std::string_view url) { return url.find("watch=true") != std::string_view::npos; }

net::HttpRequest to_request(const net::HttpCall& call) {
  net::HttpRequest request;
  request.method = call.method;
  request.target = without_host(call.url);
  request.headers = call.headers;
  request.body = call.body;
  return request;
}

net::HttpResponse status_answer(int code, std::string_view reason) {
  net::HttpResponse response;
  response.status = code;
  response.headers.add("Content-Type", "application/json");
  if (code == 429) response.headers.add("Retry-After", "1");
  response.body = fmt::format(
      R"({{"kind":"Status","apiVersion":"v1","metadata":{{}},"status":"Failure","message":)"
      R"("chaos: {0}","reason":"{0}","code":{1}}})",
      reason, code);
  return response;
}

}  // namespace

Weather draw_weather(Random& random) {
  // Most runs have a few kinds of trouble, some have all of them, some hardly any.
  const double strength = random.chance(0.2) ? 0.01 : random.chance(0.3) ? 0.25 : 0.08;
  const auto draw = [&] {
    return random.chance(0.6) ? strength * static_cast<double>(random.below(100)) / 100 : 0.0;
  };
  Weather weather;
  weather.slow = draw();
  weather.longest = random.chance(0.15) ? 25s : 4s;
  weather.lost = draw();
  weather.silent = draw() / 4;
  weather.refused = draw();
  weather.hidden = draw() / 2;
  weather.cut = draw();
  weather.twice = draw() / 2;
  return weather;
}

std::string_view Exchange::path() const {
  const std::string_view target = without_host(call.url);
  return target.substr(0, target.find('?'));
}

// Of "/api/v1/namespaces/default/pods/p1/binding", or of an extender's binding.
std::string Exchange::pod() const {
  if (to_extender()) {
    const Result<JsonValue> body = parse_json(call.body);
    if (!body || !binds()) return {};
    return fmt::format("{}/{}", memapi::text_at(*body, "PodNamespace"),
                       memapi::text_at(*body, "PodName"));
  }
  constexpr std::string_view kStart = "/api/v1/namespaces/";
  constexpr std::string_view kPods = "/pods/";
  std::string_view rest = path();
  if (!rest.starts_with(kStart)) return {};
  rest.remove_prefix(kStart.size());
  const std::size_t pods = rest.find(kPods);
  if (pods == std::string_view::npos) return {};
  const std::string_view name = rest.substr(pods + kPods.size());
  return fmt::format("{}/{}", rest.substr(0, pods), name.substr(0, name.find('/')));
}

// ---- calls

struct Network::Call {
  Exchange exchange;
  std::uint64_t number = 0;
  net::HttpCallId id = 0;          // what its client calls it
  Transport* transport = nullptr;  // null: it has ended
  std::function<void(Result<net::HttpResponse>)> done;
  net::HttpStreamCallbacks stream;
  bool begun = false;
  bool broken = false;  // nothing more arrives; the client will learn of it
  bool reset = false;   // nor does the request
  TimePoint last_delivery;
  std::size_t bytes_left = kNever;  // until it is cut
  bool lose_answer = false, hide_answer = false, silent = false;
  std::function<void()> gone;  // tells the server

  bool over() const { return transport == nullptr; }
  bool streams() const { return !done; }
};

class Network::Transport final : public net::HttpTransport {
 public:
  Transport(Network& network, std::string who) : network_(network), who_(std::move(who)) {}
  ~Transport() override {
    while (!calls_.empty()) cancel_now(calls_.begin()->second);
  }

  net::HttpCallId send(net::HttpCall call,
                       std::function<void(Result<net::HttpResponse>)> done) override {
    auto made = std::make_shared<Call>();
    made->done = std::move(done);
    return begin(std::move(made), std::move(call));
  }
  net::HttpCallId stream(net::HttpCall call, net::HttpStreamCallbacks callbacks) override {
    auto made = std::make_shared<Call>();
    made->stream = std::move(callbacks);
    return begin(std::move(made), std::move(call));
  }
  void cancel(net::HttpCallId id) override {
    const auto found = calls_.find(id);
    if (found == calls_.end()) return;
    // As a client does it: not while the caller is still speaking.
    network_.loop_.post([&network = network_, call = found->second] {
      if (call->over()) return;
      // Whoever gives up an extender takes it to have failed.
      call->exchange.failed = call->exchange.to_extender();
      if (call->exchange.failed) network.traffic_.answered(call->exchange, 0);
      network.finish(call, fail(ErrorKind::kCancelled, "the request was cancelled"));
    });
  }
  void set_tls(net::TlsClientSettings) override {}
  void ended(net::HttpCallId id) { calls_.erase(id); }

 private:
  net::HttpCallId begin(CallRef made, net::HttpCall call) {
    made->id = ++last_;
    made->transport = this;
    made->exchange = {who_, std::move(call), network_.loop_.now()};
    calls_.emplace(made->id, made);
    if (const auto& may_send = made->exchange.call.may_send; may_send && !may_send()) {
      network_.loop_.post([&network = network_, made] {
        network.finish(made, fail(ErrorKind::kCancelled, "the request was not sent"));
      });
      return made->id;
    }
    network_.begin(made);
    return made->id;
  }
  void cancel_now(const CallRef& call) {
    network_.finish(call, fail(ErrorKind::kCancelled, "the client was closed"));
  }

  Network& network_;
  const std::string who_;
  net::HttpCallId last_ = 0;
  std::map<net::HttpCallId, CallRef> calls_;
};

// The server's side of a call.
class Network::Responder final : public net::HttpResponder {
 public:
  Responder(Network& network, CallRef call, bool counts)
      : network_(network), call_(std::move(call)), counts_(counts) {}

  void read_body(std::size_t, std::function<void(std::string)>) override {}  // it is whole
  void respond(net::HttpResponse response) override {
    if (!counts_) return;
    network_.traffic_.handled(call_->exchange, response.status);
    network_.respond(call_, std::move(response));
  }
  void begin(int status, net::HttpHeaders headers) override {
    if (!counts_) return;
    network_.traffic_.handled(call_->exchange, status);
    network_.push(call_, [call = call_, status, headers = std::move(headers)] {
      call->begun = true;
      if (call->stream.begin) call->stream.begin(status, headers);
    });
  }
  bool write(std::string chunk) override {
    if (!counts_ || call_->over()) return false;
    const bool again = network_.happens(network_.weather_.twice);
    network_.push_bytes(call_, chunk);
    if (!again) return true;
    network_.traffic_.disturbed(call_->exchange, "event twice");
    network_.push_bytes(call_, std::move(chunk));
    return true;
  }
  void end() override {
    if (!counts_) return;
    network_.push(call_, [&network = network_, call = call_] { network.finish(call, {}); });
  }
  void on_gone(std::function<void()> callback) override {
    if (counts_) call_->gone = std::move(callback);
  }

 private:
  Network& network_;
  const CallRef call_;
  const bool counts_;  // else it is the second of two that are one
};

// ---- Network

Network::Network(VirtualLoop& loop, Random random, Weather weather, Traffic& traffic)
    : loop_(loop), random_(random), weather_(weather), traffic_(traffic) {}

Network::~Network() = default;

std::unique_ptr<net::HttpTransport> Network::connect(std::string who) {
  return std::make_unique<Transport>(*this, std::move(who));
}

void Network::set_server(net::HttpHandler server) {
  server_ = std::move(server);
  if (server_) return;
  for (const auto& [number, call] : calls_)
    if (call->begun) break_off(call, "read: connection reset by peer");
}

void Network::reset_connections() {
  for (const auto& [number, call] : calls_) {
    if (call->exchange.to_extender()) continue;
    call->reset = true;
    break_off(call, "read: connection reset by peer");
  }
}

void Network::part(const std::string& machine, Duration length) {
  parted_[machine] = loop_.now() + length;
}

void Network::lift() {
  weather_ = {};
  parted_.clear();
  for (const auto& [number, call] : calls_) {
    call->bytes_left = kNever;
    // Nobody waits for ten minutes for a list; a write has to end by itself.
    if (call->silent && call->streams()) break_off(call, "http2: client connection lost");
  }
}

std::size_t Network::under_way() const {
  return static_cast<std::size_t>(std::ranges::count_if(
      calls_, [](const auto& call) { return !is_watch(call.second->exchange.call.url); }));
}

Duration Network::delay() {
  const auto most = happens(weather_.slow) ? weather_.longest : Duration(20ms);
  return 1ms + Duration(static_cast<Duration::rep>(
                   random_.below(static_cast<std::uint64_t>(most.count()))));
}

bool Network::parted(const Call& call) const {
  const std::string& who = call.exchange.who;
  const auto found = parted_.find(who.substr(0, who.find('-')));
  return found != parted_.end() && loop_.now() < found->second;
}

Error Network::error(const Call& call, ErrorKind kind, std::string_view why) const {
  const net::HttpCall& http = call.exchange.call;
  return {kind, net::error_prefix(http.method, http.url) + std::string(why)};
}

void Network::begin(const CallRef& call) {
  call->number = ++last_call_;
  calls_.emplace(call->number, call);
  traffic_.sent(call->exchange);
  call->lose_answer = happens(weather_.lost / 2);
  call->hide_answer = happens(weather_.hidden);
  call->silent = happens(weather_.silent);
  if (happens(weather_.cut)) call->bytes_left = random_.below(call->streams() ? 20'000 : 300);
  if (const Duration most = call->exchange.call.timeout; most > Duration::zero())
    loop_.after(most, [this, call] {
      if (!call->over())
        finish(call, fail(error(*call, ErrorKind::kTimeout, "context deadline exceeded")));
    });
  loop_.after(delay(), [this, call] { arrive(call); });
}

void Network::arrive(const CallRef& call) {
  // A request whose client has gone may arrive all the same.
  if (call->reset || (call->over() && happens(0.5))) return;
  if (parted(*call) || happens(weather_.lost / 2)) {
    traffic_.disturbed(call->exchange, "request lost");
    return break_off(call, "http2: client connection lost");
  }
  const bool to_extender = call->exchange.to_extender();
  const net::HttpHandler& handler = to_extender ? extender_ : server_;
  if (!handler) return break_off(call, "dial tcp 10.0.0.1:6443: connect: connection refused");
  if (!to_extender && !tokens_.empty() && !tokens_.contains(call->exchange.call.bearer_token))
    return refuse(call, status_answer(401, "Unauthorized"));
  if (std::optional<net::HttpResponse> refused = refusal(*call))
    return refuse(call, *std::move(refused));
  const bool twice = happens(weather_.twice) && !call->streams();
  const bool first_counts = !twice || happens(0.5);
  const auto handle = [&](bool counts) {
    handler(to_request(call->exchange.call), std::make_shared<Responder>(*this, call, counts));
  };
  handle(first_counts);
  if (!twice) return;
  traffic_.disturbed(call->exchange, "request twice");
  handle(!first_counts);
}

std::optional<net::HttpResponse> Network::refusal(const Call& call) {
  if (!happens(weather_.refused)) return std::nullopt;
  if (call.streams() && is_watch(call.exchange.call.url) && happens(0.3))
    return status_answer(410, "Expired");
  switch (random_.below(call.exchange.reads() ? 3 : 4)) {
    case 0: return status_answer(429, "TooManyRequests");
    case 1: return status_answer(500, "InternalError");
    case 2: return status_answer(503, "ServiceUnavailable");
    default: return status_answer(409, "Conflict");
  }
}

void Network::refuse(const CallRef& call, net::HttpResponse response) {
  traffic_.disturbed(call->exchange, fmt::format("refused with {}", response.status));
  respond(call, std::move(response));
}

void Network::respond(const CallRef& call, net::HttpResponse response) {
  const auto disturbed = [&](std::string_view how) { traffic_.disturbed(call->exchange, how); };
  if (call->silent) return disturbed("never answered");
  if (call->lose_answer) {
    disturbed("answer lost");
    return break_off(call, "unexpected EOF");
  }
  if (call->hide_answer) {
    disturbed("answer hidden");
    response = status_answer(500, "InternalError");
  }
  if (!call->streams()) {
    if (call->bytes_left < response.body.size()) {
      disturbed("answer cut");
      return break_off(call, "unexpected EOF");
    }
    return push(call, [this, call, response = std::move(response)] {
      call->exchange.failed = response.status >= 300;
      traffic_.answered(call->exchange, response.status);
      const auto done = std::move(call->done);
      finish(call, {});
      done(response);
    });
  }
  push(call, [call, status = response.status, headers = response.headers] {
    call->begun = true;
    if (call->stream.begin) call->stream.begin(status, headers);
  });
  push_bytes(call, std::move(response.body));
  push(call, [this, call] { finish(call, {}); });
}

void Network::push(const CallRef& call, std::function<void()> deliver) {
  if (call->over()) return;
  call->last_delivery = std::max(call->last_delivery, loop_.now() + delay());
  loop_.at(call->last_delivery, [this, call, deliver = std::move(deliver)] {
    if (call->over() || call->broken) return;
    if (parted(*call)) return break_off(call, "http2: client connection lost");
    deliver();
  });
}

void Network::push_bytes(const CallRef& call, std::string bytes) {
  const bool cut = bytes.size() > call->bytes_left;
  if (cut) bytes.resize(call->bytes_left);
  if (call->bytes_left != kNever) call->bytes_left -= bytes.size();
  std::vector<std::string> pieces;
  if (bytes.size() > 1 && happens(0.2)) {
    const std::size_t middle = 1 + random_.below(bytes.size() - 1);
    pieces = {bytes.substr(0, middle), bytes.substr(middle)};
  } else if (!bytes.empty()) {
    pieces = {std::move(bytes)};
  }
  for (std::string& piece : pieces)
    push(call, [call, piece = std::move(piece)] {
      if (call->stream.chunk) call->stream.chunk(piece);
    });
  if (!cut) return;
  traffic_.disturbed(call->exchange, "answer cut");
  push(call, [this, call] { break_off(call, "unexpected EOF"); });
}

// The client learns of it a moment later, or when it has waited long enough.
void Network::break_off(const CallRef& call, std::string_view why) {
  if (call->over()) return;
  call->broken = true;
  const Duration wait = parted(*call) ? kNoticed : delay();
  loop_.after(wait, [this, call, why = std::string(why)] {
    if (!call->over()) finish(call, fail(error(*call, ErrorKind::kUnavailable, why)));
  });
}

void Network::finish(const CallRef& call, Result<void> ended) {
  if (call->over()) return;
  const CallRef kept = call;
  std::exchange(call->transport, nullptr)->ended(call->id);
  calls_.erase(kept->number);
  if (!ended && ended.error().kind != ErrorKind::kCancelled) {
    kept->exchange.failed = true;
    traffic_.answered(kept->exchange, 0);
  }
  if (kept->gone) std::exchange(kept->gone, {})();
  if (kept->stream.end) std::exchange(kept->stream.end, {})(ended);
  if (kept->done && !ended) std::exchange(kept->done, {})(fail(ended.error()));
}

}  // namespace berth::chaos
