// A client for tests: a server with a clock that stands still, and what it answered.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/loop.h"
#include "memapi/api_server.h"
#include "memapi/json_edit.h"
#include "wire/json_tree.h"

namespace berth::memapi::testing {

inline constexpr const char* kMergePatch = "application/merge-patch+json";
inline const std::string kConfigMaps = "/api/v1/namespaces/default/configmaps";

// Keeps what it is given. `capacity` chunks are taken; the one after is refused.
struct Recorder final : net::HttpResponder {
  void read_body(std::size_t, std::function<void(std::string)>) override {}  // it is whole
  void respond(net::HttpResponse answer) override { response = std::move(answer); }
  void begin(int code, net::HttpHeaders headers) override {
    response.status = code;
    response.headers = std::move(headers);
    began = true;
  }
  bool write(std::string chunk) override {
    if (chunks.size() >= capacity) return false;
    chunks.push_back(std::move(chunk));
    return true;
  }
  void end() override { ended = true; }
  void on_gone(std::function<void()> callback) override { gone = std::move(callback); }

  // The events of a watch in short: "ADDED default/p 5".
  std::vector<std::string> events() const {
    std::vector<std::string> all;
    for (const std::string& chunk : chunks) {
      const JsonValue event = parse_json(chunk).value();
      std::string text(text_at(event, "type"));
      if (const auto name = text_at(event, "object.metadata.name"); !name.empty())
        text += " " + std::string(name);
      if (at(event, "object.metadata.annotations") != nullptr) text += " (initial end)";
      all.push_back(std::move(text));
    }
    return all;
  }

  net::HttpResponse response;
  std::vector<std::string> chunks;
  std::size_t capacity = 1000;
  bool began = false;
  bool ended = false;
  std::function<void()> gone;
};

struct Client {
  explicit Client(ApiServerOptions options = {}) : server(loop, Random(7), std::move(options)) {}

  std::shared_ptr<Recorder> send(std::string method, std::string target, std::string body = "",
                                 std::string content_type = "application/json",
                                 std::string accept = "application/json") {
    net::HttpRequest request;
    request.method = std::move(method);
    request.target = std::move(target);
    request.body = std::move(body);
    request.headers.add("Content-Type", std::move(content_type));
    request.headers.add("Accept", std::move(accept));
    auto recorder = std::make_shared<Recorder>();
    server.handle(std::move(request), recorder);
    loop_posted();
    return recorder;
  }
  // The answer as a tree, with the code beside it.
  JsonValue ask(std::string method, std::string target, std::string body = "",
                std::string content_type = "application/json",
                std::string accept = "application/json") {
    const auto recorder = send(std::move(method), std::move(target), std::move(body),
                               std::move(content_type), std::move(accept));
    code = recorder->response.status;
    return parse_json(recorder->response.body).value_or(JsonValue());
  }
  std::string message(std::string method, std::string target, std::string body = "",
                      std::string content_type = "application/json") {
    return std::string(
        text_at(ask(std::move(method), std::move(target), std::move(body), std::move(content_type)),
                "message"));
  }
  void loop_posted() {
    while (loop.has_posted()) loop.step();
  }

  VirtualLoop loop;
  ApiServer server;
  int code = 0;
};

// "[[[]]]"
inline std::string nested_lists(std::size_t levels) {
  return std::string(levels, '[') + std::string(levels, ']');
}

inline constexpr std::string_view kPods = "/api/v1/namespaces/default/pods";

inline std::string pod_json(std::string_view name, std::string_view more_spec = "",
                            std::string_view labels = "{}") {
  std::string text = R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":")";
  text += name;
  text += R"(","labels":)";
  text += labels;
  text += R"(},"spec":{"containers":[{"name":"c","image":"i:1"}])";
  text += more_spec;
  text += "}}";
  return text;
}

}  // namespace berth::memapi::testing
