#include "config/flags/flag_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/ascii.h"
#include "base/go_quote.h"
#include "base/time_text.h"
#include "config/flags/versions.h"
#include "config/go_values.h"
#include "wire/json_text.h"

namespace berth::config {
namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0;;) {
    const std::size_t end = text.find(separator, begin);
    parts.push_back(text.substr(begin, end - begin));
    if (end == std::string_view::npos) return parts;
    begin = end + 1;
  }
}

// A field that is read and written by two plain functions.
template <typename T>
class ScalarValue : public FlagValue {
 public:
  using Read = Result<T> (*)(std::string_view);
  using Write = std::string (*)(const T&);
  ScalarValue(T& field, std::string_view type, Read read, Write write)
      : field_(field), type_(type), read_(read), write_(write) {}

  Result<void> set(std::string_view text) override {
    Result<T> value = read_(text);
    if (!value) return fail(std::move(value.error()));
    field_ = std::move(*value);
    return {};
  }
  std::string text() const override { return write_(field_); }
  std::string_view type() const override { return type_; }

 private:
  T& field_;
  std::string_view type_;
  Read read_;
  Write write_;
};

template <typename T>
std::unique_ptr<FlagValue> scalar(T& field, std::string_view type,
                                  typename ScalarValue<T>::Read read,
                                  typename ScalarValue<T>::Write write) {
  return std::make_unique<ScalarValue<T>>(field, type, read, write);
}

// A list; the first occurrence of the flag takes the place of what is there.
template <typename T>
class ListValue : public FlagValue {
 public:
  using Read = Result<std::vector<T>> (*)(std::string_view);
  using Write = std::string (*)(const std::vector<T>&);
  ListValue(std::vector<T>& field, std::string_view type, Read read, Write write)
      : field_(field), type_(type), read_(read), write_(write) {}

  Result<void> set(std::string_view text) override {
    Result<std::vector<T>> more = read_(text);
    if (!more) return fail(std::move(more.error()));
    if (!given_) field_.clear();
    given_ = true;
    std::ranges::move(*more, std::back_inserter(field_));
    return {};
  }
  std::string text() const override { return write_(field_); }
  std::string_view type() const override { return type_; }

 private:
  std::vector<T>& field_;
  std::string_view type_;
  Read read_;
  Write write_;
  bool given_ = false;
};

template <typename T>
std::unique_ptr<FlagValue> list(std::vector<T>& field, std::string_view type,
                                typename ListValue<T>::Read read,
                                typename ListValue<T>::Write write) {
  return std::make_unique<ListValue<T>>(field, type, read, write);
}

Result<std::int32_t> narrowed(Result<std::int64_t> wide) {
  if (!wide) return fail(std::move(wide.error()));
  return static_cast<std::int32_t>(*wide);
}

// 31 bits: it has to fit a signed number.
Result<std::int32_t> parse_verbosity(std::string_view text) {
  Result<std::uint64_t> wide = parse_uint(text, 10, 31);
  if (!wide) return fail(std::move(wide.error()));
  return static_cast<std::int32_t>(*wide);
}

Result<std::vector<std::int32_t>> parse_int32s(std::string_view text) {
  std::vector<std::int32_t> numbers;
  for (const std::string_view word : split(text, ',')) {
    Result<std::int32_t> number = narrowed(parse_int(word, 0, 32));
    if (!number) return fail(std::move(number.error()));
    numbers.push_back(*number);
  }
  return numbers;
}

Result<std::vector<NamedCertKey>> parse_cert_key(std::string_view text) {
  NamedCertKey pair;
  const std::size_t colon = text.find(':');
  if (colon != std::string_view::npos) {
    const std::string_view names = trimmed(text.substr(colon + 1));
    if (names.empty()) return fail(ErrorKind::kInvalid, "empty names list is not allowed");
    for (const std::string_view name : split(names, ',')) pair.names.emplace_back(trimmed(name));
  }
  const std::vector<std::string_view> files = split(trimmed(text.substr(0, colon)), ',');
  if (files.size() != 2) {
    return fail(ErrorKind::kInvalid, "expected comma separated certificate and key file paths");
  }
  pair.cert_file = trimmed(files[0]);
  pair.key_file = trimmed(files[1]);
  return std::vector<NamedCertKey>{std::move(pair)};
}

std::string cert_keys_text(const std::vector<NamedCertKey>& pairs) {
  std::vector<std::string> texts;
  for (const NamedCertKey& pair : pairs) {
    std::string text = pair.cert_file + "," + pair.key_file;
    if (!pair.names.empty()) text += fmt::format(":{}", fmt::join(pair.names, ","));
    texts.push_back(std::move(text));
  }
  return fmt::format("[{}]", fmt::join(texts, ";"));
}

class TextMapValue : public FlagValue {
 public:
  explicit TextMapValue(std::map<std::string, std::string>& field) : field_(field) {}

  Result<void> set(std::string_view text) override {
    const auto no_pair = [](std::string_view word) {
      return fail(ErrorKind::kInvalid, fmt::format("{} must be formatted as key=value", word));
    };
    std::vector<std::string> pairs;
    const auto equals = std::ranges::count(text, '=');
    if (equals == 0) return no_pair(text);
    if (equals == 1) {  // commas are part of the key, or of the value
      const std::size_t begin = std::min(text.find_first_not_of('"'), text.size());
      const std::size_t end = text.find_last_not_of('"');
      pairs.emplace_back(text.substr(begin, end + 1 - begin));
    } else {
      Result<std::vector<std::string>> fields = read_csv(text);
      if (!fields) return fail(std::move(fields.error()));
      pairs = std::move(*fields);
    }
    std::map<std::string, std::string> more;
    for (const std::string& pair : pairs) {
      const std::size_t at = pair.find('=');
      if (at == std::string::npos) return no_pair(pair);
      more[pair.substr(0, at)] = pair.substr(at + 1);
    }
    if (!given_) field_.clear();
    given_ = true;
    for (auto& [key, value] : more) field_[key] = std::move(value);
    return {};
  }
  std::string text() const override {
    std::vector<std::string> pairs;
    for (const auto& [key, value] : field_) pairs.push_back(key + "=" + value);
    return fmt::format("[{}]", trimmed(write_csv(pairs)));
  }
  std::string_view type() const override { return "stringToString"; }

 private:
  std::map<std::string, std::string>& field_;
  bool given_ = false;
};

class VmoduleValue : public FlagValue {
 public:
  explicit VmoduleValue(std::vector<VerbosityPattern>& field) : field_(field) {}

  Result<void> set(std::string_view text) override {
    for (const std::string_view item : split(text, ',')) {
      if (item.empty()) continue;
      const std::vector<std::string_view> sides = split(item, '=');
      if (sides.size() != 2 || sides[0].empty() || sides[1].empty()) {
        return fail(ErrorKind::kInvalid,
                    fmt::format("{} does not have the pattern=N format", go_quoted(item)));
      }
      const Result<std::int32_t> verbosity = parse_verbosity(sides[1]);
      if (!verbosity) {
        return fail(ErrorKind::kInvalid, fmt::format("parsing verbosity in {}: {}", go_quoted(item),
                                                     verbosity.error().message));
      }
      field_.push_back({std::string(sides[0]), *verbosity});
    }
    return {};
  }
  std::string text() const override {
    std::vector<std::string> items;
    for (const VerbosityPattern& item : field_) {
      items.push_back(fmt::format("{}={}", item.pattern, item.verbosity));
    }
    return fmt::format("{}", fmt::join(items, ","));
  }
  std::string_view type() const override { return "pattern=N,..."; }

 private:
  std::vector<VerbosityPattern>& field_;
};

class GatesValue : public FlagValue {
 public:
  explicit GatesValue(std::vector<std::string>& field) : field_(field) {}

  Result<void> set(std::string_view text) override {
    field_.emplace_back(text);
    return {};
  }
  // By component, in the order in which they were given.
  std::string text() const override {
    std::map<std::string, std::string> by_component;
    for (const std::string& value : field_) {
      for (const std::string_view pair : split(value, ',')) {
        if (pair.empty()) continue;
        const std::size_t colon = pair.find(':');
        const bool bare = colon == std::string_view::npos;
        const std::string component(bare ? "" : trimmed(pair.substr(0, colon)));
        std::string& pairs = by_component[component];
        if (!pairs.empty()) pairs += ',';
        pairs += component + ':';
        pairs += trimmed(bare ? pair : pair.substr(colon + 1));
      }
    }
    std::vector<std::string_view> all;
    for (const auto& [component, pairs] : by_component) all.push_back(pairs);
    return fmt::format("{}", fmt::join(all, ","));
  }
  std::string_view type() const override { return "colonSeparatedMultimapStringString"; }

 private:
  std::vector<std::string>& field_;
};

class VersionValue : public FlagValue {
 public:
  explicit VersionValue(VersionOptions& field) : field_(field) {}

  Result<void> set(std::string_view text) override {
    if (text == "raw") {
      field_.version = text;
      return {};
    }
    if (text.starts_with('v')) {
      if (Result<void> valid = check_reported_version(text); !valid) return valid;
      field_.version = field_.reported = text;
      return {};
    }
    Result<bool> on = parse_bool(text);
    if (!on) return fail(std::move(on.error()));
    field_.version = *on ? "true" : "false";
    return {};
  }
  std::string text() const override { return field_.version; }
  std::string_view type() const override { return "version"; }

 private:
  VersionOptions& field_;
};

}  // namespace

std::unique_ptr<FlagValue> text_value(std::string& field) {
  return scalar<std::string>(
      field, "string",
      [](std::string_view text) -> Result<std::string> { return std::string(text); },
      [](const std::string& value) { return value; });
}

std::unique_ptr<FlagValue> bool_value(bool& field) {
  return scalar<bool>(field, "bool", parse_bool,
                      [](const bool& value) { return std::string(value ? "true" : "false"); });
}

std::unique_ptr<FlagValue> int_value(std::int64_t& field) {
  return scalar<std::int64_t>(
      field, "int", [](std::string_view text) { return parse_int(text, 0, 64); },
      [](const std::int64_t& value) { return std::to_string(value); });
}

std::unique_ptr<FlagValue> int32_value(std::int32_t& field) {
  return scalar<std::int32_t>(
      field, "int32", [](std::string_view text) { return narrowed(parse_int(text, 0, 32)); },
      [](const std::int32_t& value) { return std::to_string(value); });
}

std::unique_ptr<FlagValue> float_value(float& field) {
  return scalar<float>(field, "float32", parse_float, [](const float& value) {
    if (std::isnan(value)) return std::string("NaN");
    if (std::isinf(value)) return std::string(value > 0 ? "+Inf" : "-Inf");
    return go_float_general(value);
  });
}

std::unique_ptr<FlagValue> duration_value(Duration& field) {
  return scalar<Duration>(field, "duration", parse_go_duration,
                          [](const Duration& value) { return go_duration(value); });
}

std::unique_ptr<FlagValue> ip_value(std::string& field) {
  class IpValue : public FlagValue {
   public:
    explicit IpValue(std::string& address) : address_(address) {}
    Result<void> set(std::string_view text) override {
      if (text.empty()) return {};  // as it was
      Result<std::string> address = parse_ip(trimmed(text));
      if (!address) {
        return fail(ErrorKind::kInvalid, fmt::format("failed to parse IP: {}", go_quoted(text)));
      }
      address_ = std::move(*address);
      return {};
    }
    std::string text() const override { return address_; }
    std::string_view type() const override { return "ip"; }

   private:
    std::string& address_;
  };
  return std::make_unique<IpValue>(field);
}

std::unique_ptr<FlagValue> texts_value(std::vector<std::string>& field) {
  return list<std::string>(
      field, "stringSlice",
      [](std::string_view text) {
        return text.empty() ? std::vector<std::string>() : read_csv(text);
      },
      [](const std::vector<std::string>& value) { return "[" + write_csv(value) + "]"; });
}

std::unique_ptr<FlagValue> int32s_value(std::vector<std::int32_t>& field) {
  return list<std::int32_t>(field, "int32Slice", parse_int32s,
                            [](const std::vector<std::int32_t>& value) {
                              return fmt::format("[{}]", fmt::join(value, ","));
                            });
}

std::unique_ptr<FlagValue> text_map_value(std::map<std::string, std::string>& field) {
  return std::make_unique<TextMapValue>(field);
}

std::unique_ptr<FlagValue> quantity_value(Quantity& field) {
  return scalar<Quantity>(field, "quantity", Quantity::parse,
                          [](const Quantity& value) { return value.to_string(); });
}

std::unique_ptr<FlagValue> cert_keys_value(std::vector<NamedCertKey>& field) {
  return list<NamedCertKey>(field, "namedCertKey", parse_cert_key, cert_keys_text);
}

std::unique_ptr<FlagValue> verbosity_value(std::int32_t& field) {
  return scalar<std::int32_t>(field, "Level", parse_verbosity,
                              [](const std::int32_t& value) { return std::to_string(value); });
}

std::unique_ptr<FlagValue> vmodule_value(std::vector<VerbosityPattern>& field) {
  return std::make_unique<VmoduleValue>(field);
}

std::unique_ptr<FlagValue> gates_value(std::vector<std::string>& field) {
  return std::make_unique<GatesValue>(field);
}

std::unique_ptr<FlagValue> version_value(VersionOptions& field) {
  return std::make_unique<VersionValue>(field);
}

}  // namespace berth::config
