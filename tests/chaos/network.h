// Network: everything between the schedulers' HTTP clients and the API server, on virtual time.
//
//   scheduler ── connect() ──► request ──► delay ──► server ──► answer ──► delay ──► scheduler
//
// What goes wrong on the way is drawn from the seed by the Weather: requests and answers are slow,
// overtake each other, are lost, cut at any byte or delivered twice; servers refuse. Who is
// watching the traffic hears when a request leaves a scheduler, when the server has done it, and
// when the answer is back.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "berth/loop.h"
#include "berth/random.h"
#include "net/http_client.h"
#include "net/http_message.h"

namespace berth::chaos {

// How likely it is that something happens to a request, an answer or a piece of a stream.
struct Weather {
  double slow = 0;      // it takes up to `longest`, not a few milliseconds
  Duration longest{0};  // one way
  double lost = 0;      // the connection breaks: before the server has the request, or after it
  double silent = 0;    // the server never answers
  double refused = 0;   // 409, 429, 500, 503; a watch 410: the request is not done
  double hidden = 0;    // the request is done and a 500 says otherwise
  double cut = 0;       // the answer breaks off at any byte
  double twice = 0;     // the server gets the request twice, a client gets an event twice
};
Weather draw_weather(Random& random);

// Where an extender is; everything else is the API server.
inline constexpr std::string_view kExtenderHost = "extender.example.com";

// One request of one scheduler.
struct Exchange {
  std::string who;  // the scheduler, with the number of its life: "s1-2"
  net::HttpCall call;
  TimePoint sent;
  bool failed = false;  // its client has been told so

  std::string_view path() const;  // without the query
  bool to_extender() const { return call.url.find(kExtenderHost) != std::string::npos; }
  // Whether it leaves things as they are. Of an extender's questions only a binding does not.
  bool reads() const { return to_extender() ? !path().ends_with("/bind") : call.method == "GET"; }
  bool about_lease() const { return path().find("/leases") != std::string_view::npos; }
  bool about_event() const { return path().find("/events") != std::string_view::npos; }
  bool binds() const {
    return path().ends_with("/binding") || (to_extender() && path().ends_with("/bind"));
  }
  // "default/p1", if it is about a pod.
  std::string pod() const;
};

class Traffic {
 public:
  virtual ~Traffic() = default;
  virtual void sent(const Exchange& exchange) = 0;
  // The server has answered with `status`; of a stream, has begun to.
  virtual void handled(const Exchange& exchange, int status) = 0;
  // The client has the answer; 0: it has an error in place of one.
  virtual void answered(const Exchange& exchange, int status) = 0;
  // Something went wrong with it, by the network's doing.
  virtual void disturbed(const Exchange& exchange, std::string_view how) = 0;
};

class Network {
 public:
  Network(VirtualLoop& loop, Random random, Weather weather, Traffic& traffic);
  ~Network();

  // What a scheduler sends its requests with. The network outlives it.
  std::unique_ptr<net::HttpTransport> connect(std::string who);

  // Who answers. Empty: nobody, connections are refused; those that are open break.
  void set_server(net::HttpHandler server);
  void set_extender(net::HttpHandler extender) { extender_ = std::move(extender); }
  // Every connection to the server breaks: what has not arrived never will.
  void reset_connections();
  // Tokens that the server accepts; empty: it does not ask.
  void set_tokens(std::set<std::string> tokens) { tokens_ = std::move(tokens); }
  // Nothing goes to or from this machine ("s1") for a while.
  void part(const std::string& machine, Duration length);

  // From now on everything goes well.
  void lift();
  // Requests, other than watches, that are on their way.
  std::size_t under_way() const;

 private:
  class Transport;
  class Responder;
  struct Call;
  using CallRef = std::shared_ptr<Call>;

  bool happens(double probability) { return random_.chance(probability); }
  Duration delay();
  bool parted(const Call& call) const;
  void begin(const CallRef& call);
  void arrive(const CallRef& call);
  std::optional<net::HttpResponse> refusal(const Call& call);
  void refuse(const CallRef& call, net::HttpResponse response);
  void respond(const CallRef& call, net::HttpResponse response);
  // In order, after what was pushed before.
  void push(const CallRef& call, std::function<void()> deliver);
  void push_bytes(const CallRef& call, std::string bytes);
  void break_off(const CallRef& call, std::string_view why);
  void finish(const CallRef& call, Result<void> ended);
  Error error(const Call& call, ErrorKind kind, std::string_view why) const;

  VirtualLoop& loop_;
  Random random_;
  Weather weather_;
  Traffic& traffic_;
  net::HttpHandler server_, extender_;
  std::set<std::string> tokens_;
  std::map<std::string, TimePoint> parted_;  // machines, until when
  std::uint64_t last_call_ = 0;
  std::map<std::uint64_t, CallRef> calls_;  // that have not ended, in the order of sending
};

}  // namespace berth::chaos
