// ApiClient: requests to one API server under one name (shell.md §6.1). HttpApiClient sends them;
// tests have one that plays the server.
//
// What it does for its callers: the address, who we are, encodings asked for, the limit of requests
// per second (the most urgent first), another try where the server asks for one, metrics.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include "api/api_status.h"
#include "api/requests.h"
#include "berth/loop.h"
#include "berth/result.h"
#include "berth/task.h"
#include "net/http_client.h"

namespace berth::kube {

// Which requests go first when they have to wait for their turn.
enum class Urgency : std::uint8_t {
  kHigh,    // bindings, leases: a pod or the leadership depends on it
  kNormal,  // statuses, deletions, lists
  kLow,     // requests whose answers nothing waits for
};

struct ApiCall {
  std::string method = "GET";
  std::string path;  // with its query, escaped: "/api/v1/namespaces/a/pods/b/binding"
  std::string body;
  std::string content_type;  // of the body
  std::string accept;        // empty: as the client is configured
  Urgency urgency = Urgency::kNormal;
  Duration timeout = Duration::zero();  // of each try; none: the client's
};

struct ApiAnswer {
  int code = 200;
  std::string content_type;
  std::string body;
};

// No answer, or one that is not a success.
struct ApiFailure {
  Error error;       // the kind by the code; the message as client-go words it
  ApiStatus status;  // the server's answer; code 0: there was none
};

using ApiResult = std::expected<ApiAnswer, ApiFailure>;

// A call with a body in JSON, or none, that is answered in JSON.
ApiCall json_call(std::string method, std::string path, std::string body = {});

// The content type of a body in that format.
std::string_view content_type_of(BodyFormat format);

class ApiClient {
 public:
  virtual ~ApiClient() = default;

  // World thread. Success is any code of 200 to 299. Destroying the task, or cancelling the token,
  // cancels the call.
  virtual Task<ApiResult> call(ApiCall call, CancelToken cancel = {}) = 0;

  // World thread. A watch, or a list that is read as it comes: not limited, not tried again. The
  // callbacks run on the client's thread and must not block; `begin` has the code and the content
  // type, also of a refusal, whose body comes as chunks.
  virtual net::HttpCallId stream(ApiCall call, net::HttpStreamCallbacks callbacks) = 0;
  // Any thread. Ends a stream; its `end` is called with kCancelled.
  virtual void cancel(net::HttpCallId stream) = 0;

  // How bodies are written, and what answers are asked for.
  virtual BodyFormat format() const = 0;
};

// The failure that an answer other than 200 to 299 is: the server's Status, or, where it sent none,
// client-go's words for the code, which name the request if it is given.
ApiFailure failure_of(int code, std::string_view content_type, std::string_view body,
                      std::string_view method = {}, std::string_view path = {});

}  // namespace berth::kube
