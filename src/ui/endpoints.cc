#include "ui/endpoints.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "page/page.h"
#include "wire/json_line.h"

namespace berth::ui {
namespace {

constexpr std::string_view kSnapshotPath = "/ui/data/snapshot";
constexpr std::string_view kChangesPath = "/ui/data/changes";

net::HttpResponse answer_with(int status, std::string type, std::string body) {
  net::HttpResponse response;
  response.status = status;
  response.headers.add("Content-Type", std::move(type));
  response.headers.add("X-Content-Type-Options", "nosniff");
  response.body = std::move(body);
  return response;
}

net::HttpResponse problem(int status, std::string text) {
  return answer_with(status, "text/plain; charset=utf-8", std::move(text) + "\n");
}

net::HttpResponse json(std::string body) {
  return answer_with(200, "application/json", std::move(body));
}

std::string cursor_of(const net::HttpRequest& request) {
  for (auto& [name, value] : net::parse_query(request.query()))
    if (name == "since") return std::move(value);
  return {};
}

}  // namespace

bool is_ui_path(std::string_view path) { return path == "/ui" || path.starts_with("/ui/"); }

Endpoints::Endpoints(LiveFeed& feed, std::string_view title)
    : feed_(feed),
      html_(page::live_page(JsonLine().text("title", title).flag("live", true).done())) {}

net::HttpResponse Endpoints::page() const {
  net::HttpResponse response = answer_with(200, "text/html; charset=utf-8", html_);
  // Beside the page's own policy, which cannot say who may frame it.
  response.headers.add("Content-Security-Policy",
                       fmt::format("{}; frame-ancestors 'none'", page::live_policy()));
  response.headers.add("X-Frame-Options", "DENY");
  response.headers.add("Referrer-Policy", "no-referrer");
  return response;
}

void Endpoints::answer(const net::HttpRequest& request, std::string_view path,
                       std::function<void(net::HttpResponse)> respond) const {
  if (request.method != "GET" && request.method != "HEAD") {
    net::HttpResponse refusal =
        problem(405, fmt::format("{} is not supported here, only GET is", request.method));
    refusal.headers.add("Allow", "GET");
    return respond(std::move(refusal));
  }
  if (path == "/ui") {
    net::HttpResponse redirection = problem(301, "The page is at /ui/");
    redirection.headers.add("Location", "ui/");
    return respond(std::move(redirection));
  }
  if (path == "/ui/") return respond(page());
  if (path == kChangesPath) {
    std::optional<std::string> changes = feed_.changes_since(cursor_of(request));
    return respond(changes ? json(*std::move(changes))
                           : problem(410, "These changes are not known any more: take a snapshot"));
  }
  if (path != kSnapshotPath) return respond(problem(404, "404 page not found"));
  feed_.snapshot([respond = std::move(respond)](const std::shared_ptr<const std::string>& all) {
    if (all) return respond(json(*all));
    net::HttpResponse refusal = problem(503, "The scheduler cannot be asked now");
    refusal.headers.add("Retry-After", "1");
    respond(std::move(refusal));
  });
}

}  // namespace berth::ui
