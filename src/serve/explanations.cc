#include "serve/explanations.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "base/go_quote.h"
#include "explain/explanation_text.h"
#include "serve/responses.h"

namespace berth::serve {
namespace {

constexpr std::size_t kMostNamed = 100;  // pods, or nodes, in one question

std::unexpected<Error> unclear(std::string why) {
  return fail(ErrorKind::kInvalid, std::move(why));
}

Result<bool> read_bool(std::string_view name, std::string_view value) {
  if (value.empty() || value == "true" || value == "1") return true;
  if (value == "false" || value == "0") return false;
  return unclear(fmt::format("{}: {} is neither true nor false", name, go_quoted(value)));
}

Result<void> read_parameter(const std::string& name, std::string value,
                            explain::Question& question) {
  if (name == "pod") {
    question.pods.push_back(std::move(value));
  } else if (name == "node") {
    question.nodes.push_back(std::move(value));
  } else if (name == "all-pending" || name == "suggestions") {
    const Result<bool> read = read_bool(name, value);
    if (!read) return fail(read.error());
    (name == "suggestions" ? question.suggestions : question.all_pending) = *read;
  } else if (name != "pretty") {
    return unclear(fmt::format(
        "unknown parameter {}; there are pod, all-pending, node and suggestions", go_quoted(name)));
  }
  return {};
}

StatusError status_of(const Error& error) {
  switch (error.kind) {
    case ErrorKind::kInvalid: return {400, "BadRequest", error.message};
    case ErrorKind::kNotFound: return {404, "NotFound", error.message, true};
    case ErrorKind::kConflict: return {409, "Conflict", error.message};
    case ErrorKind::kUnavailable: return {503, "ServiceUnavailable", error.message};
    default: return {500, "InternalError", error.message};
  }
}

}  // namespace

Result<explain::Question> read_question(const net::HttpRequest& request) {
  explain::Question question;
  for (auto& [name, value] : net::parse_query(request.query()))
    if (Result<void> read = read_parameter(name, std::move(value), question); !read)
      return fail(read.error());
  if (question.pods.size() > kMostNamed || question.nodes.size() > kMostNamed)
    return unclear(
        fmt::format("at most {} pods and {} nodes can be named at a time", kMostNamed, kMostNamed));
  if (request.method == "POST") {
    if (request.body.empty()) return unclear("the body is to be a pod as JSON, and is empty");
    if (!question.pods.empty() || question.all_pending)
      return unclear("a pod is asked about in the body or by name, not both");
    question.new_pod = request.body;
    return question;
  }
  if (question.pods.empty() && !question.all_pending)
    return unclear("which pods? pod=NAMESPACE/NAME or all-pending=true is missing");
  if (!question.pods.empty() && question.all_pending)
    return unclear("pods are asked about by name or with all-pending, not both");
  return question;
}

net::HttpResponse explain_response(const net::HttpRequest& request,
                                   const std::optional<explain::Answer>& answer) {
  net::HttpResponse response;
  if (!answer) {
    response = status_response(request, {429, "TooManyRequests",
                                         "too many questions wait for an answer; try again later"});
    response.headers.set("Retry-After", "1");
  } else if (!*answer) {
    response = status_response(request, status_of(answer->error()));
    if (response.status == 503) response.headers.set("Retry-After", "1");
  } else {
    response.headers.add("Content-Type", "application/json");
    response.headers.add("X-Content-Type-Options", "nosniff");
    response.body = write_json(explain::to_json_tree(**answer), wants_pretty(request));
  }
  return response;
}

net::HttpResponse question_refused(const net::HttpRequest& request, std::string_view why) {
  return status_response(request, {400, "BadRequest", std::string(why)});
}

std::optional<net::HttpResponse> explain_method_refused(const net::HttpRequest& request) {
  if (request.method == "GET" || request.method == "HEAD" || request.method == "POST")
    return std::nullopt;
  net::HttpResponse response = status_response(
      request, {405, "MethodNotAllowed",
                fmt::format("{} is not supported here, only GET and POST are", request.method)});
  response.headers.add("Allow", "GET, POST");
  return response;
}

void explain_pods(const net::HttpRequest& request, std::shared_ptr<net::HttpResponder> responder,
                  const ExplainPods& explain, Background& background) {
  if (std::optional<net::HttpResponse> refused = explain_method_refused(request))
    return responder->respond(*std::move(refused));
  Result<explain::Question> question = read_question(request);
  if (!question) return responder->respond(question_refused(request, question.error().message));
  const auto departure = std::make_shared<Departure>();
  responder->on_gone([departure] { departure->go(); });
  CancelReview give_up =
      explain(*std::move(question),
              [request, responder, &background](std::optional<explain::Answer> answer) {
                background.post([request, responder, answer = std::move(answer)] {
                  responder->respond(explain_response(request, answer));
                });
              });
  if (!departure->set(give_up)) give_up();
}

}  // namespace berth::serve
