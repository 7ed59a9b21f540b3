#include "simulated_extender.h"

#include <fmt/format.h>

#include <utility>

#include "memapi/json_edit.h"

namespace berth::chaos {
namespace {

using namespace std::chrono_literals;

}  // namespace

SimulatedExtender::SimulatedExtender(SimulatedServer& server, Random random)
    : server_(server), random_(random) {
  config_.url_prefix = fmt::format("http://{}", kExtenderHost);
  config_.filter_verb = "filter";
  config_.prioritize_verb = "prioritize";
  if (random_.chance(0.5)) config_.bind_verb = "bind";
  config_.weight = 1;
  config_.http_timeout = 3s;
  config_.node_cache_capable = true;
  config_.ignorable = random_.chance(0.3);
}

net::HttpHandler SimulatedExtender::handler() {
  return [this](const net::HttpRequest& request,
                const std::shared_ptr<net::HttpResponder>& responder) {
    net::HttpResponse response;
    response.headers.add("Content-Type", "application/json");
    const Result<JsonValue> asked = parse_json(request.body);
    const bool fails = moody_ && random_.chance(0.05);
    if (!asked || fails) {
      response.status = 500;
    } else if (request.target == "/filter") {
      response.body = filter(*asked);
    } else if (request.target == "/prioritize") {
      response.body = prioritize(*asked);
    } else if (bind(*asked)) {
      response.body = R"({"Error":""})";
    } else {
      response.status = 500;
    }
    responder->respond(std::move(response));
  };
}

std::string SimulatedExtender::filter(const JsonValue& asked) {
  JsonValue answer = JsonValue::object();
  JsonValue& names = memapi::array_at(answer, "NodeNames");
  JsonValue failed = JsonValue::object();
  for (const JsonValue& name : memapi::items_at(asked, "NodeNames")) {
    if (moody_ && random_.chance(0.1))
      failed.add(name.text, JsonValue::of_text("not today"));
    else
      names.items.push_back(name);
  }
  answer.add("FailedNodes", std::move(failed));
  return to_json(answer);
}

std::string SimulatedExtender::prioritize(const JsonValue& asked) {
  JsonValue answer = JsonValue::array();
  for (const JsonValue& name : memapi::items_at(asked, "NodeNames")) {
    JsonValue score = JsonValue::object();
    score.add("Host", name);
    score.add("Score", JsonValue::of_int(static_cast<std::int64_t>(random_.below(11))));
    answer.items.push_back(std::move(score));
  }
  return to_json(answer);
}

bool SimulatedExtender::bind(const JsonValue& asked) {
  const std::string uid(memapi::text_at(asked, "PodUID"));
  return server_.up() &&
         server_.local()
             .bind(memapi::text_at(asked, "PodNamespace"), memapi::text_at(asked, "PodName"), uid,
                   memapi::text_at(asked, "Node"))
             .has_value();
}

}  // namespace berth::chaos
