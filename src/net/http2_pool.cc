#include "net/http2_pool.h"

#include <curl/curl.h>

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "net/http2_connection.h"
#include "net/http_failure.h"

namespace berth::net {
namespace {

using std::chrono::seconds;

constexpr std::string_view kScheme = "https://";
// As client-go: a server that is silent for so long gets a PING, and has so long to answer it.
constexpr Duration kSilence = seconds(30);
constexpr Duration kAnswerWithin = seconds(15);
constexpr int kMostTries = 5;
constexpr std::size_t kMostRefusing = 64;
constexpr std::size_t kBuffer = 32 << 10;

// "https://10.0.0.1:6443" of a URL that has nothing unusual in it.
std::optional<std::string_view> origin_of(std::string_view url) {
  if (!url.starts_with(kScheme)) return std::nullopt;
  const auto unusual = [](char c) { return c <= ' ' || c >= 0x7f || c == '#'; };
  if (std::ranges::any_of(url, unusual)) return std::nullopt;
  const std::size_t end = std::min(url.find_first_of("/?", kScheme.size()), url.size());
  const std::string_view origin = url.substr(0, end);
  if (origin.size() == kScheme.size() || origin.find('@') != std::string_view::npos)
    return std::nullopt;
  return origin;
}

// A connection and its server.
struct Line {
  Line(HttpTransferSet& set, const HttpClientOptions& options,
       const std::shared_ptr<const TlsClientSettings>& with_tls, std::string_view to)
      : origin(to), tls(with_tls), connection(set, options, with_tls) {}

  bool open() const { return !over && !connection.dialing(); }
  bool takes_calls() const {
    return !over && !retired && (connection.dialing() || connection.session().takes_calls());
  }

  const std::string origin;
  const std::shared_ptr<const TlsClientSettings> tls;
  Http2Connection connection;
  std::vector<HttpCallId> waiting;  // until it is open
  TimePoint heard;
  bool pinged = false;
  bool retired = false;  // certificates are newer, or the server answered 401
  bool over = false;
};

// A call, and where it is.
struct Entry {
  OpenCall* call = nullptr;
  Line* line = nullptr;
  std::optional<TimePoint> deadline;
  int tries = 0;
};

}  // namespace

struct Http2Pool::Parts {
  Parts(HttpTransferSet& with_set, const HttpClientOptions& with_options,
        std::shared_ptr<const TlsClientSettings> with_tls, const Loop& with_clock)
      : set(with_set),
        options(with_options),
        clock(with_clock),
        tls(std::move(with_tls)),
        buffer(kBuffer) {}

  Line* open_line(std::string_view origin) const;
  Line& line_for(const OpenCall& call);
  void place(Entry& entry);
  void begin_on(Line& line, Entry& entry);
  void exchange(Line& line, bool readable);
  void settle(std::vector<Http2Session::Ended> ended);
  void lose(Line& line, const Error& why);
  void look_after(Line& line, TimePoint now);
  void check_deadlines(TimePoint now);
  void drop_finished();
  void end(HttpCallId call, Result<void> result, bool elsewhere = false);

  HttpTransferSet& set;
  const HttpClientOptions& options;
  const Loop& clock;
  std::shared_ptr<const TlsClientSettings> tls;
  std::vector<std::unique_ptr<Line>> lines;
  boost::unordered_flat_map<HttpCallId, Entry> entries;
  std::set<std::pair<TimePoint, HttpCallId>> deadlines;
  std::vector<std::string> refusing;  // servers that do not offer HTTP/2
  std::vector<Outcome> outcomes;
  std::vector<WaitedSocket> sockets;
  std::vector<char> buffer;
  bool unsent = false;  // calls were placed anew, perhaps on a line that had its turn
};

// ---- where calls go -----------------------------------------------------------------------------

// One that takes calls; null if there is none.
Line* Http2Pool::Parts::open_line(std::string_view origin) const {
  for (const std::unique_ptr<Line>& line : lines)
    if (line->origin == origin && line->takes_calls()) return line.get();
  return nullptr;
}

// One that takes the call; perhaps a new one.
Line& Http2Pool::Parts::line_for(const OpenCall& call) {
  const std::string_view origin = *origin_of(call.call().url);
  if (Line* line = open_line(origin)) return *line;
  return *lines.emplace_back(std::make_unique<Line>(set, options, tls, origin));
}

void Http2Pool::Parts::place(Entry& entry) {
  const std::size_t before = lines.size();
  Line& line = line_for(*entry.call);
  entry.line = &line;
  if (!line.connection.dialing()) return begin_on(line, entry);
  line.waiting.push_back(entry.call->id());
  if (lines.size() == before) return;
  if (Result<void> dialing = line.connection.dial(line.origin); !dialing) {
    line.over = true;
    end(entry.call->id(), std::move(dialing));
  }
}

void Http2Pool::Parts::begin_on(Line& line, Entry& entry) {
  entry.line = &line;
  if (Result<void> begun = line.connection.session().begin(*entry.call); !begun)
    end(entry.call->id(), std::move(begun));
}

void Http2Pool::Parts::end(HttpCallId call, Result<void> result, bool elsewhere) {
  const auto found = entries.find(call);
  if (found == entries.end()) return;
  if (found->second.deadline) deadlines.erase({*found->second.deadline, call});
  entries.erase(found);
  outcomes.push_back({call, std::move(result), elsewhere});
}

// ---- what happens on a line ---------------------------------------------------------------------

void Http2Pool::Parts::settle(std::vector<Http2Session::Ended> ended) {
  for (Http2Session::Ended& each : ended) {
    const auto found = entries.find(each.call);
    if (found == entries.end()) continue;
    Entry& entry = found->second;
    if (entry.call->status() == kUnauthorized) entry.line->retired = true;
    const bool again = each.untouched && !entry.call->head_complete() && ++entry.tries < kMostTries;
    if (again) {
      place(entry);
      unsent = true;
    } else {
      end(each.call, std::move(each.result));
    }
  }
}

void Http2Pool::Parts::lose(Line& line, const Error& why) {
  line.over = true;
  settle(line.connection.session().take_ended());
  settle(line.connection.session().lose(why));
}

void Http2Pool::Parts::exchange(Line& line, bool readable) {
  if (readable) {
    const Result<Http2Connection::Read> read = line.connection.read(buffer);
    if (!read) return lose(line, read.error());
    if (*read == Http2Connection::Read::kSomething) {
      line.heard = clock.now();
      line.pinged = false;
    }
  }
  const Result<void> written = line.connection.write();
  if (!written) return lose(line, written.error());
  const Http2Session& session = line.connection.session();
  // One side sent GOAWAY with a reason, which is reported in the server's words.
  if (session.over() && session.has_calls())
    return lose(line, {ErrorKind::kUnavailable, "http2: client connection lost"});
  settle(line.connection.session().take_ended());
}

// A server that is silent may be gone.
void Http2Pool::Parts::look_after(Line& line, TimePoint now) {
  const Duration silent = now - line.heard;
  if (line.pinged && silent >= kSilence + kAnswerWithin)
    return lose(line, {ErrorKind::kUnavailable, "http2: client connection lost"});
  if (line.pinged || silent < kSilence) return;
  line.pinged = true;
  line.connection.session().ping();
  exchange(line, false);
}

void Http2Pool::Parts::check_deadlines(TimePoint now) {
  while (!deadlines.empty() && deadlines.begin()->first <= now) {
    const HttpCallId call = deadlines.begin()->second;
    const Entry& entry = entries.at(call);
    HttpFailure failure = entry.line->connection.easy().failure(CURLE_OPERATION_TIMEDOUT);
    failure.detail.clear();
    if (entry.line->open()) entry.line->connection.session().forget(*entry.call);
    end(call, fail(error_of(failure, *entry.line->tls)));
  }
}

void Http2Pool::Parts::drop_finished() {
  std::erase_if(lines, [](const std::unique_ptr<Line>& line) {
    if (line->over) return true;
    if (line->connection.dialing()) return false;
    const Http2Session& session = line->connection.session();
    return session.over() || (!line->takes_calls() && !session.has_calls());
  });
}

// ---- the pool itself ----------------------------------------------------------------------------

Http2Pool::Http2Pool(HttpTransferSet& set, const HttpClientOptions& options,
                     std::shared_ptr<const TlsClientSettings> tls, const Loop& clock)
    : parts_(std::make_unique<Parts>(set, options, std::move(tls), clock)) {}

Http2Pool::~Http2Pool() = default;

void Http2Pool::use_tls(std::shared_ptr<const TlsClientSettings> tls) {
  parts_->tls = std::move(tls);
  parts_->refusing.clear();
  for (const std::unique_ptr<Line>& line : parts_->lines) line->retired = true;
}

bool Http2Pool::takes(const OpenCall& call) const {
  if (!parts_->options.http2 || parts_->options.compression) return false;
  if (call.call().idle_timeout > Duration::zero()) return false;
  const std::optional<std::string_view> origin = origin_of(call.call().url);
  if (!origin) return false;
  return std::ranges::find(parts_->refusing, *origin) == parts_->refusing.end();
}

bool Http2Pool::connected(const OpenCall& call) const {
  return parts_->open_line(*origin_of(call.call().url)) != nullptr;
}

void Http2Pool::begin(OpenCall& call) {
  Entry entry;
  entry.call = &call;
  if (call.call().timeout > Duration::zero()) {
    entry.deadline = parts_->clock.now() + call.call().timeout;
    parts_->deadlines.emplace(*entry.deadline, call.id());
  }
  const auto placed = parts_->entries.insert_or_assign(call.id(), entry).first;
  parts_->place(placed->second);
}

void Http2Pool::forget(const OpenCall& call) {
  const auto found = parts_->entries.find(call.id());
  if (found == parts_->entries.end()) return;
  const Entry entry = found->second;
  if (entry.deadline) parts_->deadlines.erase({*entry.deadline, call.id()});
  parts_->entries.erase(found);
  if (entry.line->open()) entry.line->connection.session().forget(call);
}

void Http2Pool::dialed(const CurlEasy& easy, int code) {
  const auto found = std::ranges::find_if(
      parts_->lines, [&](const auto& line) { return &line->connection.easy() == &easy; });
  if (found == parts_->lines.end()) return;
  Line& line = **found;
  const Result<bool> open = line.connection.dialed(code);
  const std::vector<HttpCallId> waiting = std::exchange(line.waiting, {});
  line.heard = parts_->clock.now();
  if (!open || !*open) line.over = true;
  if (open && !*open) {
    if (parts_->refusing.size() >= kMostRefusing) parts_->refusing.clear();
    parts_->refusing.push_back(line.origin);
  }
  for (const HttpCallId id : waiting) {
    const auto entry = parts_->entries.find(id);
    if (entry == parts_->entries.end()) continue;  // it was forgotten
    if (!open)
      parts_->end(id, fail(open.error()));
    else if (!*open)
      parts_->end(id, {}, true);
    else
      parts_->begin_on(line, entry->second);
  }
}

void Http2Pool::work() {
  const auto ready = [&](int socket) {
    return std::ranges::any_of(parts_->sockets, [&](const WaitedSocket& waited) {
      return waited.ready && waited.socket == socket;
    });
  };
  parts_->unsent = false;
  const TimePoint now = parts_->clock.now();
  for (std::size_t i = 0; i < parts_->lines.size(); ++i) {  // there may be more at the end
    Line& line = *parts_->lines[i];
    if (!line.open()) continue;
    parts_->exchange(line, line.connection.more() || ready(line.connection.waited().socket));
    if (line.open()) parts_->look_after(line, now);
  }
  parts_->check_deadlines(now);
  parts_->drop_finished();
}

std::vector<Http2Pool::Outcome> Http2Pool::take_outcomes() {
  return std::exchange(parts_->outcomes, {});
}

std::span<WaitedSocket> Http2Pool::sockets() {
  parts_->sockets.clear();
  for (const std::unique_ptr<Line>& line : parts_->lines)
    if (line->open()) parts_->sockets.push_back(line->connection.waited());
  return parts_->sockets;
}

Duration Http2Pool::patience() const {
  if (parts_->unsent) return Duration::zero();
  const TimePoint now = parts_->clock.now();
  Duration patience = Duration::max();
  if (!parts_->deadlines.empty()) patience = parts_->deadlines.begin()->first - now;
  for (const std::unique_ptr<Line>& line : parts_->lines) {
    if (!line->open()) continue;
    if (line->connection.more()) return Duration::zero();
    const Duration silence = line->pinged ? kSilence + kAnswerWithin : kSilence;
    patience = std::min(patience, line->heard + silence - now);
  }
  return patience;
}

}  // namespace berth::net
