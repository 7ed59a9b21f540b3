// /explain: why pods of a running scheduler have no node, what would help, and why they have the node
// that they have, as docs/explain.md describes. `berth explain --server` uses it.
//
//   GET  /explain?pod=NAMESPACE/NAME        again for more pods
//        /explain?all-pending=true
//   POST /explain                           would the pod in the body (JSON) fit? Nothing is stored.
//     &node=NAME             its scores, too; may be given again
//     &suggestions=false     without what would help, which takes longest
//
// Any thread.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "berth/result.h"
#include "explain/question.h"
#include "net/http_message.h"
#include "serve/background.h"
#include "serve/open_reviews.h"

namespace berth::serve {

inline constexpr std::string_view kExplainPath = "/explain";
// Of a pod that is sent.
inline constexpr std::size_t kMostPodBytes = std::size_t{1} << 20;

// Asks the world. Called from any thread; calls back at most once, from any thread. nullopt: too many
// questions wait already.
using ExplainPods = std::function<CancelReview(
    explain::Question question, std::function<void(std::optional<explain::Answer>)> done)>;

// What a request asks; its body has been read. Errors are sentences for who asked.
Result<explain::Question> read_question(const net::HttpRequest& request);
// Of a large answer it is a long text: not on the world's thread.
net::HttpResponse explain_response(const net::HttpRequest& request,
                                   const std::optional<explain::Answer>& answer);
net::HttpResponse question_refused(const net::HttpRequest& request, std::string_view why);
// A method other than GET, HEAD and POST; nullopt: it is one of these.
std::optional<net::HttpResponse> explain_method_refused(const net::HttpRequest& request);

// All of it, for a server that hands over complete requests. Answers are written on `background`,
// which outlives the calls back.
void explain_pods(const net::HttpRequest& request, std::shared_ptr<net::HttpResponder> responder,
                  const ExplainPods& explain, Background& background);

}  // namespace berth::serve
