#include "cel/library/named_formats.h"

#include <array>
#include <utility>

#include "base/ascii.h"
#include "cel/library/library.h"
#include "cel/library/regex.h"
#include "cel/library/time.h"
#include "cel/library/url.h"

namespace berth::cel {

namespace {

using Args = std::span<const Value>;
using Complaints = std::vector<std::string>;

constexpr const char* kLabel = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
constexpr const char* kSubdomain =
    "[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
constexpr const char* kOldLabel = "[a-z]([-a-z0-9]*[a-z0-9])?";
constexpr const char* kName = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
constexpr const char* kLabelValue = "(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?";
constexpr const char* kUuid =
    "(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}";
constexpr const char* kBase64 =
    "(?:[A-Za-z0-9+\\/]{4})*(?:[A-Za-z0-9+\\/]{2}==|[A-Za-z0-9+\\/]{3}=|[A-Za-z0-9+\\/]{4})";
constexpr const char* kTime =
    "([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))";

bool is_all(std::string_view text, const char* pattern) {
  const auto regex = Regex::compile(std::string("^(?:") + pattern + ")$");
  return regex && (*regex)->matches(text);
}

std::string too_long(std::size_t length) {
  return "must be no more than " + std::to_string(length) + " bytes";
}

std::string pattern_text(const char* message, const char* pattern, const char* examples) {
  return std::string(message) + " (e.g. " + examples + ", regex used for validation is '" +
         pattern + "')";
}

// A prefix of a name may end in a dash.
std::string masked(std::string_view text) {
  std::string result(text);
  if (result.size() > 1 && result.back() == '-') {
    result.resize(result.size() - 2);
    result += 'a';
  }
  return result;
}

Complaints label(std::string_view text) {
  Complaints complaints;
  if (text.size() > 63) complaints.push_back(too_long(63));
  if (is_all(text, kLabel)) return complaints;
  if (is_all(text, kSubdomain)) {
    complaints.emplace_back("must not contain dots");
  } else {
    complaints.push_back(pattern_text(
        "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
        "must start and end with an alphanumeric character",
        kLabel, "'my-name',  or '123-abc'"));
  }
  return complaints;
}

Complaints subdomain(std::string_view text) {
  Complaints complaints;
  if (text.size() > 253) complaints.push_back(too_long(253));
  if (!is_all(text, kSubdomain)) {
    complaints.push_back(pattern_text(
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
        "'.', and must start and end with an alphanumeric character",
        kSubdomain, "'example.com'"));
  }
  return complaints;
}

Complaints old_label(std::string_view text) {
  Complaints complaints;
  if (text.size() > 63) complaints.push_back(too_long(63));
  if (!is_all(text, kOldLabel)) {
    complaints.push_back(pattern_text(
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
        "alphabetic character, and end with an alphanumeric character",
        kOldLabel, "'my-name',  or 'abc-123'"));
  }
  return complaints;
}

Complaints label_prefix(std::string_view text) { return label(masked(text)); }
Complaints subdomain_prefix(std::string_view text) { return subdomain(masked(text)); }
Complaints old_label_prefix(std::string_view text) { return old_label(masked(text)); }

Complaints qualified_name(std::string_view text) {
  const std::string pattern = pattern_text(
      "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
      "alphanumeric character",
      kName, "'MyName',  or 'my.name',  or '123-abc'");
  Complaints complaints;
  std::string_view name = text;
  if (const std::size_t slash = text.find('/'); slash != std::string_view::npos) {
    const std::string_view prefix = text.substr(0, slash);
    name = text.substr(slash + 1);
    if (name.find('/') != std::string_view::npos) {
      return {"a valid label key " + pattern +
              " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"};
    }
    if (prefix.empty()) {
      complaints.emplace_back("prefix part must be non-empty");
    } else {
      for (const std::string& each : subdomain(prefix)) complaints.push_back("prefix part " + each);
    }
  }
  if (name.empty()) {
    complaints.emplace_back("name part must be non-empty");
  } else if (name.size() > 63) {
    complaints.push_back("name part " + too_long(63));
  }
  if (!is_all(name, kName)) complaints.push_back("name part " + pattern);
  return complaints;
}

Complaints label_value(std::string_view text) {
  Complaints complaints;
  if (text.size() > 63) complaints.push_back(too_long(63));
  if (!is_all(text, kLabelValue)) {
    complaints.push_back(pattern_text(
        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
        "'.', and must start and end with an alphanumeric character",
        kLabelValue, "'MyValue',  or 'my_value',  or '12345'"));
  }
  return complaints;
}

Complaints uri(std::string_view text) {
  const auto parsed = Url::parse(text, true);
  return parsed ? Complaints{} : Complaints{parsed.error().message};
}

Complaints unless(bool good, const char* complaint) {
  return good ? Complaints{} : Complaints{complaint};
}
Complaints uuid(std::string_view text) {
  return unless(is_all(text, kUuid), "does not match the UUID format");
}
Complaints base64(std::string_view text) { return unless(is_all(text, kBase64), "invalid base64"); }

bool is_date(std::string_view text) {
  return text.size() == 10 && parse_timestamp(std::string(text) + "T00:00:00Z").has_value();
}
Complaints date(std::string_view text) { return unless(is_date(text), "invalid date"); }
Complaints datetime(std::string_view text) {
  const std::string lower = lower_case(text);
  const std::size_t t = lower.find('t');
  if (t == std::string::npos || !is_date(lower.substr(0, t))) return {"invalid datetime"};
  std::string time = lower.substr(t + 1);
  time = time.substr(0, time.find('t'));
  return unless(is_all(time, kTime), "invalid datetime");
}

constexpr std::array<NamedFormat, 13> kFormats = {{
    {"dns1123Label", "DNS1123Label", 30, label},
    {"dns1123Subdomain", "DNS1123Subdomain", 60, subdomain},
    {"dns1035Label", "DNS1035Label", 30, old_label},
    {"qualifiedName", "QualifiedName", 60, qualified_name},
    {"dns1123LabelPrefix", "DNS1123LabelPrefix", 30, label_prefix},
    {"dns1123SubdomainPrefix", "DNS1123SubdomainPrefix", 60, subdomain_prefix},
    {"dns1035LabelPrefix", "DNS1035LabelPrefix", 30, old_label_prefix},
    {"labelValue", "LabelValue", 40, label_value},
    {"uri", "URI", 1103, uri},
    {"uuid", "uuid", 70, uuid},
    {"byte", "byte", 84, base64},
    {"date", "date", 71, date},
    {"datetime", "datetime", 71, datetime},
}};

template <std::size_t index>
Value format_at(Args) {
  return Value::format(&kFormats[index]);
}

template <std::size_t... indexes>
void add_each(FunctionTable& table, std::index_sequence<indexes...>) {
  (table.add("format." + std::string(kFormats[indexes].function) + "() -> format",
             "format." + std::string(kFormats[indexes].function), format_at<indexes>),
   ...);
}

Value named(Args args) {
  const NamedFormat* found = named_format(args[0].as_string());
  return found != nullptr ? Value::some(Value::format(found)) : Value::none();
}

Value validate_text(Args args) {
  const Complaints complaints = args[0].as_format().validate(args[1].as_string());
  if (complaints.empty()) return Value::none();
  std::vector<Value> values;
  for (const std::string& each : complaints) values.push_back(Value::string(each));
  return Value::some(Value::list(std::move(values)));
}

}  // namespace

const NamedFormat* named_format(std::string_view function) {
  for (const NamedFormat& each : kFormats)
    if (each.function == function) return &each;
  return nullptr;
}

void add_named_formats(FunctionTable& table) {
  table.add("format::validate(string) -> optional(list(string))", "format-validate", validate_text);
  table.add("format.named(string) -> optional(format)", "format-named", named);
  add_each(table, std::make_index_sequence<kFormats.size()>());
}

}  // namespace berth::cel
