#include "wire/json_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "wire/json_scanner.h"

namespace berth {
namespace {

constexpr std::size_t kPiece = std::size_t{256} << 10;
constexpr std::string_view kSeparator = "---";
constexpr std::string_view kSpace = " \t\r\n";
constexpr std::string_view kEndsEarly = "the text ends in the middle";

}  // namespace

// Drops what was used. A piece is as large as what is kept of the last one: an object of any size is
// looked at a bounded number of times.
Result<void> JsonStream::read_more() {
  text_.erase(0, at_);
  before_ += at_;
  at_ = 0;
  const std::size_t kept = text_.size();
  text_.resize(kept + std::max(kPiece, kept));
  std::size_t end = kept;
  while (end < text_.size() && !ended_) {  // a pipe gives little at a time
    const Result<std::size_t> size = source_.read(text_.data() + end, text_.size() - end);
    if (!size) return fail(size.error());
    end += *size;
    ended_ = *size == 0;
  }
  text_.resize(end);
  return {};
}

template <typename Scan>
Result<std::string_view> JsonStream::take(Scan scan) {
  for (;;) {
    JsonScanner json(text_, at_, line_);
    const bool taken = scan(json);
    // A number at the end of what was read may go on.
    const bool whole = taken && (!json.at_end() || ended_);
    if (!whole && !ended_ && (taken || json.is_cut_off())) {
      if (Result<void> more = read_more(); !more) return fail(more.error());
      continue;
    }
    if (!taken)
      return fail(ErrorKind::kInvalid,
                  fmt::format("line {}, byte {}: invalid JSON: {}", json.line(),
                              before_ + json.position() + 1, json.problem()));
    const std::string_view token = std::string_view(text_).substr(at_, json.position() - at_);
    at_ = json.position();
    line_ = json.line();
    return token;
  }
}

Result<void> JsonStream::skip_space() {
  const Result<std::string_view> skipped = take([](JsonScanner& json) {
    json.skip_space();
    return true;
  });
  if (!skipped) return fail(skipped.error());
  return {};
}

// After space; a zero at the end of the text, which is an error of whoever needs more.
Result<char> JsonStream::next_character() {
  if (Result<void> skipped = skip_space(); !skipped) return fail(skipped.error());
  return at_ < text_.size() ? text_[at_] : '\0';
}

std::unexpected<Error> JsonStream::wrong(std::string_view problem) const {
  return fail(ErrorKind::kInvalid,
              fmt::format("line {}, byte {}: invalid JSON: {}", line_, before_ + at_ + 1, problem));
}

// Whether another object begins.
Result<bool> JsonStream::at_object() {
  for (;;) {
    const Result<char> next = next_character();
    if (!next) return fail(next.error());
    while (*next == '-' && rest().size() <= kSeparator.size() && !ended_)
      if (Result<void> more = read_more(); !more) return fail(more.error());
    const std::string_view after = rest().substr(std::min(kSeparator.size(), rest().size()));
    const bool alone = after.empty() || kSpace.find(after[0]) != kSpace.npos;
    if (!rest().starts_with(kSeparator) || !alone) return *next == '{';
    at_ += kSeparator.size();
  }
}

Result<void> JsonStream::read(Visitor& visitor) {
  for (;;) {
    const Result<bool> object = at_object();
    if (!object) return fail(object.error());
    if (!*object) return {};
    visitor.begin_object(line_);
    const Result<bool> going_on = read_object(visitor);
    if (!going_on) return fail(going_on.error());
    if (!*going_on) return {};
  }
}

// The members of a map or the items of a list, with the brackets around them.
template <typename ReadOne>
Result<bool> JsonStream::read_between(char close, ReadOne read_one) {
  ++at_;
  Result<char> next = next_character();
  while (next && *next != close) {
    if (const Result<bool> going_on = read_one(); !going_on || !*going_on) return going_on;
    if (next = next_character(); !next || *next == close) break;
    if (rest().empty()) return wrong(kEndsEarly);
    if (*next != ',') return wrong(fmt::format("expected ',' or '{}', got '{}'", close, *next));
    ++at_;
    if (next = next_character(); next && *next == close)
      return wrong(fmt::format("nothing between ',' and '{}'", close));
  }
  if (!next) return fail(next.error());
  ++at_;
  return true;
}

Result<bool> JsonStream::read_items(Visitor& visitor) {
  return read_between(']', [&]() -> Result<bool> {
    const Result<std::string_view> item = take([](JsonScanner& json) { return json.value(2); });
    if (!item) return fail(item.error());
    return visitor.item(*item);
  });
}

Result<bool> JsonStream::read_object(Visitor& visitor) {
  std::string shell = "{";
  std::set<std::string, std::less<>> names;
  const auto read_member = [&]() -> Result<bool> {
    std::string_view name;
    const Result<std::string_view> written =
        take([&](JsonScanner& json) { return json.name(name); });
    if (!written) return fail(written.error());
    if (!names.emplace(name).second)
      return wrong(fmt::format("the key \"{}\" stands twice in a map", name));
    const bool may_have_items = name == "items";
    const std::string so_far = may_have_items ? shell + '}' : std::string();
    if (shell.size() > 1) shell += ',';
    shell += *written;
    const Result<char> next = next_character();
    if (!next) return fail(next.error());
    if (may_have_items && *next == '[') {
      shell += "[]";
      if (!visitor.begin_items(so_far)) return false;
      return read_items(visitor);
    }
    const Result<std::string_view> value = take([](JsonScanner& json) { return json.value(1); });
    if (!value) return fail(value.error());
    shell += *value;
    return true;
  };
  const Result<bool> going_on = read_between('}', read_member);
  if (!going_on || !*going_on) return going_on;
  return visitor.end_object(shell + '}');
}

}  // namespace berth
