// cel_eval FILE: device selectors evaluated with berth's own evaluator, in the form of
// `oracle -cel FILE`. FILE is [{"expression": "…", "device": {…}}], the answer a list in the same
// order: {matches, error, compileError, cost}. FILE "-" is the standard input.

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "berth/resources.h"
#include "cel/device_selector.h"
#include "wire/json_tree.h"

namespace {

using berth::JsonValue;

std::string text_of(const JsonValue& object, std::string_view member) {
  const JsonValue* found = object.find(member);
  return found == nullptr ? std::string() : found->text;
}

std::vector<std::string> texts_of(const JsonValue& list) {
  std::vector<std::string> texts;
  for (const JsonValue& each : list.items) texts.push_back(each.text);
  return texts;
}

void add_attribute(berth::SelectorDevice& device, const std::string& name, const JsonValue& value) {
  if (const JsonValue* number = value.find("int")) {
    device.add_attribute(name, static_cast<std::int64_t>(std::stoll(number->text)));
  } else if (const JsonValue* flag = value.find("bool")) {
    device.add_attribute(name, flag->boolean);
  } else if (const JsonValue* text = value.find("string")) {
    device.add_attribute(name, std::string_view(text->text));
  } else if (const JsonValue* version = value.find("version")) {
    device.add_version(name, version->text);
  } else if (const JsonValue* numbers = value.find("ints")) {
    std::vector<std::int64_t> values;
    for (const JsonValue& each : numbers->items) values.push_back(std::stoll(each.text));
    device.add_list(name, values);
  } else if (const JsonValue* texts = value.find("strings")) {
    device.add_list(name, texts_of(*texts));
  } else if (const JsonValue* versions = value.find("versions")) {
    device.add_version_list(name, texts_of(*versions));
  } else {
    device.add_unsupported(name);
  }
}

berth::SelectorDevice read_device(const JsonValue& json) {
  const JsonValue* shared = json.find("allowMultipleAllocations");
  berth::SelectorDevice device(text_of(json, "driver"), shared != nullptr && shared->boolean);
  if (const JsonValue* attributes = json.find("attributes")) {
    for (const auto& [name, value] : attributes->members) add_attribute(device, name, value);
  }
  if (const JsonValue* capacity = json.find("capacity")) {
    for (const auto& [name, value] : capacity->members) {
      const auto quantity = berth::Quantity::parse(text_of(value, "value"));
      if (quantity) device.add_capacity(name, *quantity);
    }
  }
  return device;
}

JsonValue judge(const JsonValue& each) {
  JsonValue answer = JsonValue::object();
  const auto selector = berth::DeviceSelector::compile(text_of(each, "expression"));
  if (!selector) {
    answer.add("compileError", JsonValue::of_text(selector.error().message));
    return answer;
  }
  const JsonValue* json = each.find("device");
  const berth::SelectorDevice device = read_device(json != nullptr ? *json : JsonValue::object());
  std::uint64_t cost = 0;
  const auto matches = (*selector)->matches(device, &cost);
  if (matches) {
    answer.add("matches", JsonValue::of_bool(*matches));
  } else {
    answer.add("error", JsonValue::of_text(matches.error().message));
  }
  if (cost != 0) answer.add("cost", JsonValue::of_number(std::to_string(cost)));
  return answer;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: cel_eval FILE\n", stderr);
    return 2;
  }
  const auto text = berth::read_file(std::string_view(argv[1]) == "-" ? "/dev/stdin" : argv[1]);
  if (!text) {
    std::fprintf(stderr, "%s\n", text.error().message.c_str());
    return 2;
  }
  const auto cases = berth::parse_json(*text);
  if (!cases || cases->kind != JsonValue::Kind::kArray) {
    std::fputs("no list of cases\n", stderr);
    return 2;
  }
  JsonValue answers = JsonValue::array();
  for (const JsonValue& each : cases->items) answers.items.push_back(judge(each));
  std::puts(berth::to_json(answers).c_str());
  return 0;
}
