#include "config/type_meta.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/ascii.h"
#include "config/plugin_args.h"

namespace berth::config {

// Parity: here, unlike everywhere else, names of fields are not case sensitive.
Result<TypeMeta> type_meta_of(const JsonValue& json) {
  constexpr std::string_view kTarget =
      "couldn't get version/kind; json parse error: json: cannot unmarshal {} into Go {}";
  const auto wrong = [&](const JsonValue& value, std::string_view target) {
    static constexpr std::string_view kWords[] = {"null",   "bool",  "number",
                                                  "string", "array", "object"};
    return fail(
        ErrorKind::kInvalid,
        fmt::format(fmt::runtime(kTarget), kWords[static_cast<std::size_t>(value.kind)], target));
  };
  TypeMeta meta;
  if (json.is_null()) return meta;
  if (json.kind != JsonValue::Kind::kObject) {
    return wrong(json,
                 "value of type struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; "
                 "Kind string \"json:\\\"kind,omitempty\\\"\" }");
  }
  for (const JsonMember& member : json.members) {
    for (const auto& [name, out] :
         {std::pair{"apiVersion", &meta.api_version}, std::pair{"kind", &meta.kind}}) {
      if (!same_but_for_case(member.name, name) || member.value.is_null()) continue;
      if (member.value.kind != JsonValue::Kind::kString) {
        return wrong(member.value, fmt::format("struct field .{} of type string", name));
      }
      *out = member.value.text;
    }
  }
  if (std::ranges::count(meta.api_version, '/') > 1) {
    return fail(ErrorKind::kInvalid,
                fmt::format("unexpected GroupVersion string: {}", meta.api_version));
  }
  return meta;
}

std::unexpected<Error> not_registered(const TypeMeta& meta) {
  return fail(ErrorKind::kInvalid,
              fmt::format("no kind \"{}\" is registered for version \"{}\" in scheme "
                          "\"pkg/runtime/scheme.go:111\"",
                          meta.kind, meta.api_version));
}

std::string_view plugin_of(std::string_view kind) {
  if (!kind.ends_with(kArgsSuffix)) return {};
  const std::string_view plugin = kind.substr(0, kind.size() - kArgsSuffix.size());
  return takes_args(plugin) ? plugin : std::string_view();
}

}  // namespace berth::config
