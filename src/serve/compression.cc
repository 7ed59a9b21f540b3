#include "serve/compression.h"

#include <zlib.h>

#include <charconv>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "base/ascii.h"

namespace berth::serve {
namespace {

// Of ";q=0.5"; 1 without.
double quality(std::string_view parameters) {
  const std::size_t at = parameters.find("q=");
  double value = 1;
  if (at != std::string_view::npos)
    std::from_chars(parameters.data() + at + 2, parameters.data() + parameters.size(), value);
  return value;
}

}  // namespace

bool accepts_gzip(const net::HttpRequest& request) {
  const std::string all = request.headers.joined("Accept-Encoding");
  for (std::string_view rest = all; !rest.empty();) {
    const std::size_t comma = rest.find(',');
    const std::string_view coding = rest.substr(0, comma);
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    const std::size_t semicolon = coding.find(';');
    if (trimmed(coding.substr(0, semicolon)) != "gzip") continue;
    return semicolon == std::string_view::npos || quality(coding.substr(semicolon)) > 0;
  }
  return false;
}

void compress(net::HttpResponse& response) {
  if (response.body.empty() || response.body.size() > std::numeric_limits<uInt>::max()) return;
  constexpr int kGzip = 15 + 16;  // the largest window, and gzip's head rather than zlib's
  constexpr int kMemory = 8;
  z_stream stream{};
  if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, kGzip, kMemory, Z_DEFAULT_STRATEGY) != Z_OK)
    return;
  std::string packed(deflateBound(&stream, response.body.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(response.body.data());
  stream.avail_in = static_cast<uInt>(response.body.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const bool complete = deflate(&stream, Z_FINISH) == Z_STREAM_END;
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  if (!complete) return;
  response.body = std::move(packed);
  response.headers.add("Content-Encoding", "gzip");
}

}  // namespace berth::serve
