// JSON that comes in pieces, cut where one thing ends and the next begins: the lines of a watch,
// the items of a list. What is between the cuts is parsed by the caller; here only quotes and
// brackets count. Part of watch_stream.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "berth/result.h"

namespace berth::kube {

// A watch in JSON is one event a line.
class JsonLineReader {
 public:
  // A line that is longer than `max_line` bytes is an error.
  explicit JsonLineReader(std::size_t max_line) : max_line_(max_line) {}

  void add(std::string_view bytes);
  // The next line that has come whole and is not blank; valid until the next call.
  std::optional<std::string_view> next();

  // Whether the stream may end here: not within a line.
  bool at_boundary() const;
  const std::optional<Error>& error() const { return error_; }

 private:
  std::size_t max_line_;
  std::string buffer_;
  std::size_t read_ = 0;     // of the buffer
  std::size_t scanned_ = 0;  // of the buffer: no end of line before this, after `read_`
  std::optional<Error> error_;
};

// A list: `{"kind": "PodList", "metadata": {…}, "items": [{…}, {…}]}`. Items are handed out one by
// one and forgotten; the rest is kept.
class JsonListReader {
 public:
  // An item (or all of the rest) that is larger than `max_item` bytes is an error.
  explicit JsonListReader(std::size_t max_item) : max_item_(max_item) {}

  void add(std::string_view bytes);
  // The next item that has come whole; valid until the next call.
  std::optional<std::string_view> next();

  // Whether the whole list has come.
  bool complete() const { return !error_ && depth_ == 0 && begun_; }
  // The list without its items: JSON once it is complete.
  const std::string& rest() const { return rest_; }
  const std::optional<Error>& error() const { return error_; }

 private:
  enum class In : std::uint8_t { kRest, kItems, kItem };
  // Looks at one byte; true when it ends an item.
  bool step(char c);
  bool step_in_items(char c);
  void step_in_rest(char c);
  void step_in_text(char c);
  void keep(char c);
  void fail(std::string message);

  std::size_t max_item_;
  std::string incoming_;
  std::size_t read_ = 0;  // of incoming_
  std::string item_;
  bool item_whole_ = false;  // it was handed out
  std::string rest_;
  std::string key_;          // the last text directly in the outermost object
  bool items_next_ = false;  // "items": was read
  In in_ = In::kRest;
  std::size_t depth_ = 0;  // of brackets
  bool begun_ = false;
  bool in_text_ = false;
  bool escaped_ = false;
  std::optional<Error> error_;
};

}  // namespace berth::kube
