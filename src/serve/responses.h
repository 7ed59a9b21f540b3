// Answers as Kubernetes' servers give them: texts, pages, and metav1.Status in the encoding that
// the client asked for. For this room.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "net/http_message.h"
#include "wire/json_tree.h"

namespace berth::serve {

// One of the kinds of answers that a client is willing to read: "application/json;as=Table;q=0.5".
struct MediaRange {
  std::string type;     // "application", or a star
  std::string subtype;  // "json", or a star
  double quality = 1;
  std::vector<std::pair<std::string, std::string>> parameters;  // without q

  std::string_view parameter(std::string_view name) const;  // empty: none
  bool covers(std::string_view type_name, std::string_view subtype_name) const;
};

// The clauses of an Accept header, the most wanted first.
std::vector<MediaRange> parse_accept(std::string_view accept);

// Whether JSON is to be indented: for requests with ?pretty, and for browsers and command lines.
bool wants_pretty(const net::HttpRequest& request);
std::string write_json(const JsonValue& value, bool pretty);

// Go's http.Error: a line of text.
net::HttpResponse text_error(int status, std::string_view line);
// Text that is nothing in particular.
net::HttpResponse plain_text(std::string body);
net::HttpResponse page_not_found();

struct StatusError {
  int code = 500;
  std::string reason;
  std::string message;
  bool details = false;  // an empty object
};
// A Status in JSON, YAML or protobuf, as the request accepts; JSON when in doubt.
net::HttpResponse status_response(const net::HttpRequest& request, const StatusError& error);

net::HttpResponse unauthorized(const net::HttpRequest& request);
net::HttpResponse forbidden(const net::HttpRequest& request, std::string_view user,
                            std::string_view verb, std::string_view path, std::string_view reason);
// Too many wait for a review: it is worth another try in a second.
net::HttpResponse too_many_requests();
// When it is not known whether the request is allowed.
net::HttpResponse internal_error(const net::HttpRequest& request, std::string_view why);

}  // namespace berth::serve
