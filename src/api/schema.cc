#include "api/schema.h"

#include <algorithm>
#include <tuple>

#include "api/schema_table.h"

namespace berth::schema {

std::span<const Field> fields_of(MessageId message) {
  const Message& span = kMessages[message];
  return std::span(kFields).subspan(span.first, span.count);
}

const Merging& merging_of(const Field& field) { return kMergings[field.merging]; }

const Field* find_field(MessageId message, std::string_view name) {
  for (const Field& field : fields_of(message)) {
    if (!field.is(kInline)) {
      if (field.name == name) return &field;
    } else if (const Field* inner = find_field(field.message, name)) {
      return inner;
    }
  }
  return nullptr;
}

const Field* union_list(MessageId message) {
  const auto fields = fields_of(message);
  const auto found =
      std::ranges::find_if(fields, [](const Field& field) { return field.is(kRepeated); });
  return found == fields.end() ? nullptr : &*found;
}

const Field* union_object(MessageId message) {
  const auto fields = fields_of(message);
  const auto found = std::ranges::find_if(fields, [](const Field& field) {
    return field.type == Type::kMessage && !field.is(kRepeated);
  });
  return found == fields.end() ? nullptr : &*found;
}

std::string_view name_of(MessageId message) { return kMessages[message].name; }

std::optional<MessageId> find_message(std::string_view api_version, std::string_view kind) {
  const auto key = [](const Root& root) { return std::tie(root.api_version, root.kind); };
  const auto wanted = std::tie(api_version, kind);
  const auto* found = std::ranges::lower_bound(kRoots, wanted, {}, key);
  if (found != std::end(kRoots) && key(*found) == wanted) return found->message;
  // Options of requests and events of watches are kinds of every group.
  constexpr std::string_view kEverywhere[] = {"CreateOptions", "DeleteOptions", "PatchOptions",
                                              "UpdateOptions", "WatchEvent"};
  if (api_version == "v1" || std::ranges::find(kEverywhere, kind) == std::end(kEverywhere))
    return std::nullopt;
  return find_message("v1", kind);
}

}  // namespace berth::schema
