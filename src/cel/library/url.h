// Url: an absolute URL or path, taken apart by Go's rules.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/result.h"

namespace berth::cel {

struct Url {
  std::string scheme;
  std::string opaque;
  std::string user;  // with the "@", as written
  std::string host;  // with the port
  std::string path;  // escaped
  std::string query;
  std::string fragment;
  bool omit_host = false;
  bool force_query = false;

  std::string text() const;
  // Keys in the order of their first value.
  std::vector<std::pair<std::string, std::vector<std::string>>> query_values() const;
  std::pair<std::string, std::string> host_and_port() const;

  // Errors are in Go's words. As a request's, it has no fragment and must be absolute.
  static Result<Url> parse(std::string_view text, bool as_request);
};

}  // namespace berth::cel
