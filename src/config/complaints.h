// Complaints: what is wrong with a configuration, in the sentences of Kubernetes' field errors.
// Only for this room.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/go_quote.h"
#include "base/time_text.h"
#include "berth/labels.h"
#include "berth/loop.h"

namespace berth::config {

inline std::string at(std::string_view path, std::string_view field) {
  std::string out(path);
  if (!out.empty()) out += '.';
  return out += field;
}
inline std::string at(std::string_view path, std::size_t index) {
  return std::string(path) + "[" + std::to_string(index) + "]";
}

class Complaints {
 public:
  // `value` as JSON.
  void invalid(const std::string& path, std::string_view value, std::string_view text) {
    sentences_.push_back(path + ": Invalid value: " + std::string(value) + ": " +
                         std::string(text));
  }
  void invalid(const std::string& path, std::int64_t value, std::string_view text) {
    invalid(path, std::string_view(std::to_string(value)), text);
  }
  void invalid(const std::string& path, Duration value, std::string_view text) {
    invalid(path, std::string_view(go_quoted(go_duration(value))), text);
  }
  void required(const std::string& path, std::string_view text = "") {
    sentences_.push_back(path + ": Required value" + (text.empty() ? "" : ": ") +
                         std::string(text));
  }
  // `value` as JSON.
  void duplicate(const std::string& path, std::string_view value) {
    sentences_.push_back(path + ": Duplicate value: " + std::string(value));
  }
  void forbidden(const std::string& path, std::string_view text) {
    sentences_.push_back(path + ": Forbidden: " + std::string(text));
  }
  void unsupported(const std::string& path, std::string_view value,
                   const std::vector<std::string_view>& supported) {
    std::string list;
    for (const std::string_view one : supported)
      list += (list.empty() ? "" : ", ") + go_quoted(one);
    sentences_.push_back(path + ": Unsupported value: " + go_quoted(value) +
                         ": supported values: " + list);
  }
  // Whatever is wrong with a label key or another qualified name.
  void check_name(const std::string& path, std::string_view name) {
    for (const std::string& problem : label_key_problems(name)) {
      invalid(path, std::string_view(go_quoted(name)), problem);
    }
  }
  void add(const std::vector<std::string>& sentences) {
    sentences_.insert(sentences_.end(), sentences.begin(), sentences.end());
  }

  bool empty() const { return sentences_.empty(); }
  const std::vector<std::string>& sentences() const { return sentences_; }
  std::vector<std::string> take() { return std::move(sentences_); }

 private:
  std::vector<std::string> sentences_;
};

}  // namespace berth::config
