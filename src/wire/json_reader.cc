#include "wire/json_reader.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <charconv>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/time_text.h"

namespace berth {

namespace ondemand = simdjson::ondemand;

struct JsonReader::State {
  // An object or list that is being walked.
  struct Level {
    Shape shape = Shape::kObject;
    bool begun = false;
    std::string_view key;
    std::size_t index = 0;
    ondemand::object_iterator field, field_end;
    ondemand::array_iterator item, item_end;
  };

  std::string text;  // with the padding that the parser asks for
  ondemand::parser parser;
  ondemand::document document;
  ondemand::value value;  // the value at hand
  std::vector<Level> levels;
  std::optional<Error> error;

  std::string path() const {
    std::string out;
    for (const Level& level : levels) {
      if (!level.begun) continue;
      if (level.shape == Shape::kArray) {
        out += fmt::format("[{}]", level.index);
      } else if (level.key.find_first_of("./ ") != std::string_view::npos) {
        out += fmt::format("[{}]", level.key);  // as field.Path.Key() shows such names
      } else {
        if (!out.empty()) out += '.';
        out += level.key;
      }
    }
    return out;
  }

  void fail_with(const std::string& where, std::string_view message) {
    if (error) return;
    error = Error{ErrorKind::kInvalid,
                  where.empty() ? std::string(message) : fmt::format("{}: {}", where, message)};
  }
  void fail_with(simdjson::error_code code) {
    fail_with(path(), fmt::format("invalid JSON: {}", simdjson::error_message(code)));
  }

  // What the value at hand is; an error if it is not even JSON.
  std::optional<ondemand::json_type> type() {
    if (error) return std::nullopt;
    ondemand::json_type found;
    if (const auto code = value.type().get(found)) {
      fail_with(code);
      return std::nullopt;
    }
    return found;
  }

  void fail_type(std::string_view expected, ondemand::json_type found) {
    std::string_view name = "null";
    switch (found) {
      case ondemand::json_type::array: name = "a list"; break;
      case ondemand::json_type::object: name = "a map"; break;
      case ondemand::json_type::number: name = "a number"; break;
      case ondemand::json_type::string: name = "a string"; break;
      case ondemand::json_type::boolean: name = "a boolean"; break;
      case ondemand::json_type::null: break;
    }
    fail_with(path(), fmt::format("expected {}, got {}", expected, name));
  }

  // Tokens come with the space that follows them.
  static std::string_view trimmed(std::string_view token) {
    return token.substr(0, token.find_last_not_of(" \t\r\n") + 1);
  }
  std::string_view number_text() { return trimmed(value.raw_json_token()); }
};

JsonReader::Memory::Memory() : state_(std::make_unique<State>()) {}
JsonReader::Memory::~Memory() = default;

JsonReader::JsonReader(std::string_view json)
    : own_(std::make_unique<State>()), state_(own_.get()) {
  start(json);
}

JsonReader::JsonReader(std::string_view json, Memory& memory) : state_(memory.state_.get()) {
  start(json);
}

void JsonReader::start(std::string_view json) {
  State& state = *state_;
  state.levels.clear();
  state.error.reset();
  state.text.assign(json);
  state.text.append(simdjson::SIMDJSON_PADDING, '\0');
  const simdjson::padded_string_view padded(state.text.data(), json.size(), state.text.size());
  if (const auto code = state.parser.iterate(padded).get(state.document)) {
    state.fail_with(code);
    return;
  }
  if (const auto code = state.document.get_value().get(state.value)) {
    if (code == simdjson::SCALAR_DOCUMENT_AS_VALUE) {
      state.fail_with("", "expected a map, got a single value");
    } else {
      state.fail_with(code);
    }
  }
}

JsonReader::~JsonReader() = default;

bool JsonReader::enter(Shape shape) {
  State& state = *state_;
  const auto type = state.type();
  if (!type || *type == ondemand::json_type::null) return false;
  State::Level level;
  level.shape = shape;
  simdjson::error_code code = simdjson::SUCCESS;
  if (shape == Shape::kObject) {
    if (*type != ondemand::json_type::object) {
      state.fail_type("a map", *type);
      return false;
    }
    ondemand::object object;
    code = state.value.get_object().get(object);
    if (!code) code = object.begin().get(level.field);
    if (!code) code = object.end().get(level.field_end);
  } else {
    if (*type != ondemand::json_type::array) {
      state.fail_type("a list", *type);
      return false;
    }
    ondemand::array array;
    code = state.value.get_array().get(array);
    if (!code) code = array.begin().get(level.item);
    if (!code) code = array.end().get(level.item_end);
  }
  if (code) {
    state.fail_with(code);
    return false;
  }
  state.levels.push_back(level);
  return true;
}

bool JsonReader::next_field(std::string_view& name, bool with_null) {
  State& state = *state_;
  State::Level& level = state.levels.back();
  while (!state.error) {
    if (std::exchange(level.begun, true)) ++level.field;
    if (!(level.field != level.field_end)) break;
    ondemand::field field;
    if (const auto code = (*level.field).get(field)) {
      state.fail_with(code);
      break;
    }
    if (const auto code = field.unescaped_key().get(level.key)) {
      state.fail_with(code);
      break;
    }
    state.value = field.value();
    name = level.key;
    if (with_null) return true;
    const auto type = state.type();
    if (!type) break;
    if (*type != ondemand::json_type::null) return true;
  }
  state.levels.pop_back();
  return false;
}

bool JsonReader::next_item() {
  State& state = *state_;
  State::Level& level = state.levels.back();
  if (!state.error) {
    if (std::exchange(level.begun, true)) {
      ++level.item;
      ++level.index;
    }
    if (level.item != level.item_end) {
      const auto code = (*level.item).get(state.value);
      if (!code) return true;
      state.fail_with(code);
    }
  }
  state.levels.pop_back();
  return false;
}

std::string_view JsonReader::text() {
  State& state = *state_;
  const auto type = state.type();
  if (!type || *type == ondemand::json_type::null) return {};
  if (*type != ondemand::json_type::string) {
    state.fail_type("a string", *type);
    return {};
  }
  std::string_view text;
  if (const auto code = state.value.get_string().get(text)) {
    state.fail_with(code);
    return {};
  }
  return text;
}

bool JsonReader::boolean() {
  State& state = *state_;
  const auto type = state.type();
  if (!type || *type == ondemand::json_type::null) return false;
  if (*type != ondemand::json_type::boolean) {
    state.fail_type("a boolean", *type);
    return false;
  }
  bool value = false;
  if (const auto code = state.value.get_bool().get(value)) state.fail_with(code);
  return value;
}

std::optional<std::int64_t> JsonReader::integer() {
  State& state = *state_;
  const auto type = state.type();
  if (!type || *type == ondemand::json_type::null) return std::nullopt;
  if (*type != ondemand::json_type::number) {
    state.fail_type("an integer", *type);
    return std::nullopt;
  }
  const std::string_view text = state.number_text();
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size()) return value;
  if (error == std::errc::result_out_of_range) {
    fail(fmt::format("{} does not fit in 64 bits", text));
  } else {
    fail(fmt::format("expected an integer, got {}", text));
  }
  return std::nullopt;
}

std::int64_t JsonReader::int64() { return integer().value_or(0); }

std::int32_t JsonReader::int32() {
  const std::int64_t value = integer().value_or(0);
  if (value < std::numeric_limits<std::int32_t>::min() ||
      value > std::numeric_limits<std::int32_t>::max()) {
    fail(fmt::format("{} does not fit in 32 bits", value));
    return 0;
  }
  return static_cast<std::int32_t>(value);
}

std::optional<std::string_view> JsonReader::number_or_text(std::string_view expected) {
  State& state = *state_;
  const auto type = state.type();
  if (!type || *type == ondemand::json_type::null) return std::nullopt;
  if (*type == ondemand::json_type::number) return state.number_text();
  if (*type != ondemand::json_type::string) {
    state.fail_type(expected, *type);
    return std::nullopt;
  }
  const std::string_view written = text();
  return state.error ? std::nullopt : std::optional(written);
}

std::optional<WallTime> JsonReader::time() {
  const std::string_view written = text();
  if (written.empty()) return std::nullopt;
  const Result<WallTime> time = parse_rfc3339(written);
  if (time) return *time;
  fail(time.error().message);
  return std::nullopt;
}

std::string_view JsonReader::raw() {
  State& state = *state_;
  const auto type = state.type();
  if (!type) return {};
  std::string_view raw;
  if (*type == ondemand::json_type::object) {
    ondemand::object object;
    if (const auto code = state.value.get_object().get(object)) return state.fail_with(code), raw;
    if (const auto code = object.raw_json().get(raw)) state.fail_with(code);
  } else if (*type == ondemand::json_type::array) {
    ondemand::array array;
    if (const auto code = state.value.get_array().get(array)) return state.fail_with(code), raw;
    if (const auto code = array.raw_json().get(raw)) state.fail_with(code);
  } else {
    raw = state.value.raw_json_token();
  }
  return State::trimmed(raw);
}

void JsonReader::fail(std::string_view message) { state_->fail_with(state_->path(), message); }

const std::optional<Error>& JsonReader::error() const { return state_->error; }

}  // namespace berth
