#include "serve/waiting_pods.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/go_quote.h"
#include "serve/responses.h"
#include "wire/json_tree.h"

namespace berth::serve {
namespace {

JsonValue described(const WaitingPod& waiting) {
  JsonValue object = JsonValue::object();
  object.add("namespace", JsonValue::of_text(waiting.pod->namespace_name()));
  object.add("name", JsonValue::of_text(waiting.pod->name()));
  object.add("uid", JsonValue::of_text(waiting.pod->uid_text()));
  object.add("node", JsonValue::of_text(waiting.node_name));
  JsonValue plugins = JsonValue::array();
  for (const std::string& plugin : waiting.pending_plugins)
    plugins.items.push_back(JsonValue::of_text(plugin));
  object.add("plugins", std::move(plugins));
  return object;
}

net::HttpResponse json_response(const net::HttpRequest& request, const JsonValue& value) {
  net::HttpResponse response;
  response.headers.add("Content-Type", "application/json");
  response.headers.add("X-Content-Type-Options", "nosniff");
  response.body = write_json(value, wants_pretty(request));
  return response;
}

net::HttpResponse not_allowed(const net::HttpRequest& request, std::string method) {
  net::HttpResponse response = status_response(
      request, {405, "MethodNotAllowed",
                fmt::format("{} is not supported here, only {} is", request.method, method)});
  response.headers.add("Allow", std::move(method));
  return response;
}

// What is asked of one pod.
struct Order {
  std::string_view namespace_name;
  std::string_view name;
  bool allow = false;
  std::string plugin;   // empty: whichever holds it
  std::string message;  // of a rejection
};

// NAMESPACE/NAME/allow; nothing if it reads otherwise.
std::optional<Order> read_order(std::string_view words, std::string_view query) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0; at != std::string_view::npos;) {
    at = words.find('/');
    parts.push_back(words.substr(0, at));
    if (at != std::string_view::npos) words.remove_prefix(at + 1);
  }
  if (parts.size() != 3 || (parts[2] != "allow" && parts[2] != "reject")) return std::nullopt;
  Order order{parts[0], parts[1], parts[2] == "allow", {}, {}};
  for (auto& [name, value] : net::parse_query(query)) {
    if (name == "plugin") {
      order.plugin = std::move(value);
    } else if (name == "message") {
      order.message = std::move(value);
    }
  }
  return order;
}

net::HttpResponse not_waiting(const net::HttpRequest& request, const Order& order) {
  return status_response(
      request, {404, "NotFound",
                fmt::format("pod {} is not waiting",
                            go_quoted(fmt::format("{}/{}", order.namespace_name, order.name))),
                true});
}

net::HttpResponse carry_out(const net::HttpRequest& request, const Order& order,
                            const UserInfo& user, WaitingPods& pods) {
  const std::vector<WaitingPod> all = pods.list();
  const auto waiting = std::ranges::find_if(all, [&](const WaitingPod& candidate) {
    return candidate.pod->namespace_name() == order.namespace_name &&
           candidate.pod->name() == order.name;
  });
  if (waiting == all.end()) return not_waiting(request, order);
  const std::vector<std::string>& holders = waiting->pending_plugins;
  if (!order.plugin.empty() && std::ranges::find(holders, order.plugin) == holders.end())
    return status_response(
        request, {409, "Conflict",
                  fmt::format("plugin {} does not hold pod {}; it is held by {}",
                              go_quoted(order.plugin), go_quoted(waiting->pod->full_name()),
                              holders.empty() ? "none any more"
                                              : fmt::format("{}", fmt::join(holders, ", "))),
                  true});

  std::vector<std::string> plugins = holders;
  if (!order.plugin.empty()) plugins = {order.plugin};
  bool changed = false;
  if (order.allow) {
    for (const std::string& plugin : plugins)
      changed = pods.allow(waiting->pod->uid(), plugin) || changed;
  } else if (!plugins.empty()) {
    const std::string message =
        order.message.empty() ? fmt::format("rejected by {}", user.name) : order.message;
    changed = pods.reject(waiting->pod->uid(), plugins.front(), message);
  }
  if (!changed) return not_waiting(request, order);  // it was settled meanwhile
  JsonValue answer = described(*waiting);
  answer.add("result", JsonValue::of_text(order.allow ? "allowed" : "rejected"));
  return json_response(request, answer);
}

}  // namespace

net::HttpResponse answer_waiting_pods(const net::HttpRequest& request, std::string_view path,
                                      const UserInfo& user, WaitingPods& pods) {
  path.remove_prefix(kWaitingPodsPath.size());
  if (path.empty() || path == "/") {
    if (request.method != "GET" && request.method != "HEAD") return not_allowed(request, "GET");
    JsonValue items = JsonValue::array();
    for (const WaitingPod& waiting : pods.list()) items.items.push_back(described(waiting));
    JsonValue list = JsonValue::object();
    list.add("items", std::move(items));
    return json_response(request, list);
  }
  const std::optional<Order> order = read_order(path.substr(1), request.query());
  if (!order) return page_not_found();
  if (request.method != "POST") return not_allowed(request, "POST");
  // A browser shows a client certificate for whatever page asks it to.
  if (net::is_cross_origin(request))
    return status_response(
        request, {403, "Forbidden", "pages of other sites may not decide about pods", true});
  return carry_out(request, *order, user, pods);
}

}  // namespace berth::serve
