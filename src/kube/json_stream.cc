#include "kube/json_stream.h"

#include <fmt/format.h>

#include <utility>

namespace berth::kube {
namespace {

constexpr std::string_view kSpace = " \t\r\n";

bool is_blank(std::string_view text) {
  return text.find_first_not_of(kSpace) == std::string_view::npos;
}

// Drops what was handed out, when that is cheap: it is most of the buffer.
bool make_room(std::string& buffer, std::size_t& read) {
  if (read == 0 || read < buffer.size() / 2) return false;
  buffer.erase(0, read);
  read = 0;
  return true;
}

}  // namespace

// ---- lines

void JsonLineReader::add(std::string_view bytes) {
  if (error_) return;
  const std::size_t before = read_;
  if (make_room(buffer_, read_)) scanned_ -= before;
  buffer_.append(bytes);
}

std::optional<std::string_view> JsonLineReader::next() {
  while (!error_) {
    const std::size_t end = buffer_.find('\n', scanned_);
    const std::size_t length = (end == std::string::npos ? buffer_.size() : end) - read_;
    if (length > max_line_) {
      error_ = Error{ErrorKind::kInvalid,
                     fmt::format("a watch event is longer than the limit of {} bytes", max_line_)};
      break;
    }
    if (end == std::string::npos) {
      scanned_ = buffer_.size();
      break;
    }
    const std::string_view line = std::string_view(buffer_).substr(read_, length);
    read_ = scanned_ = end + 1;
    if (!is_blank(line)) return line;
  }
  return std::nullopt;
}

bool JsonLineReader::at_boundary() const {
  return !error_ && is_blank(std::string_view(buffer_).substr(read_));
}

// ---- lists

void JsonListReader::fail(std::string message) {
  if (!error_) error_ = Error{ErrorKind::kInvalid, std::move(message)};
}

void JsonListReader::add(std::string_view bytes) {
  if (error_) return;
  make_room(incoming_, read_);
  incoming_.append(bytes);
}

std::optional<std::string_view> JsonListReader::next() {
  if (std::exchange(item_whole_, false)) item_.clear();
  while (!error_ && read_ < incoming_.size()) {
    if (!step(incoming_[read_++])) continue;
    item_whole_ = true;
    return item_;
  }
  return std::nullopt;
}

void JsonListReader::keep(char c) {
  std::string& kept = in_ == In::kItem ? item_ : rest_;
  kept.push_back(c);
  if (kept.size() > max_item_)
    fail(fmt::format("a part of a list is longer than the limit of {} bytes", max_item_));
}

bool JsonListReader::step(char c) {
  if (in_text_) {
    step_in_text(c);
    return false;
  }
  if (c == '"' && in_ != In::kItems) {
    in_text_ = true;
    if (in_ == In::kRest && depth_ == 1) key_.clear();
    keep(c);
    return false;
  }
  if (in_ != In::kRest) return step_in_items(c);
  step_in_rest(c);
  return false;
}

void JsonListReader::step_in_text(char c) {
  keep(c);
  if (escaped_) {
    escaped_ = false;
  } else if (c == '\\') {
    escaped_ = true;
  } else if (c == '"') {
    in_text_ = false;
    return;
  }
  if (in_ == In::kRest && depth_ == 1) key_.push_back(c);
}

void JsonListReader::step_in_rest(char c) {
  const bool space = kSpace.find(c) != std::string_view::npos;
  if (depth_ == 0 && !space && (begun_ || c != '{')) return fail("a list is not a JSON object");
  keep(c);
  if (space) return;
  begun_ = true;
  if (c == '[' && depth_ == 1 && items_next_) in_ = In::kItems;
  if (depth_ == 1) items_next_ = c == ':' && key_ == "items";
  if (c == '{' || c == '[') ++depth_;
  if ((c == '}' || c == ']') && depth_ > 0) --depth_;
}

bool JsonListReader::step_in_items(char c) {
  if (in_ == In::kItem) {
    keep(c);
    if (c == '{' || c == '[') ++depth_;
    if ((c == '}' || c == ']') && --depth_ == 2) {
      in_ = In::kItems;
      return true;
    }
  } else if (c == '{') {
    in_ = In::kItem;
    ++depth_;
    keep(c);
  } else if (c == ']') {
    in_ = In::kRest;
    --depth_;
    keep(c);
  } else if (c != ',' && kSpace.find(c) == std::string_view::npos) {
    fail("an item of a list is not a JSON object");
  }
  return false;
}

}  // namespace berth::kube
