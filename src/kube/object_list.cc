#include "kube/object_list.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "api/decode.h"
#include "api/envelope.h"
#include "kube/reflector.h"
#include "net/http_message.h"
#include "wire/json_reader.h"

namespace berth::kube {
namespace {

struct ListedHead {
  bool has_api_version = false;
  bool has_kind = false;
  std::string namespace_name;
  std::string name;
};

ListedHead read_listed_head(std::string_view text) {
  ListedHead head;
  JsonReader json(text);
  json.fields([&](std::string_view field) {
    if (field == "apiVersion") head.has_api_version = true;
    if (field == "kind") head.has_kind = true;
    if (field != "metadata") return;
    json.fields([&](std::string_view member) {
      if (member == "namespace") head.namespace_name = json.text();
      if (member == "name") head.name = json.text();
    });
  });
  return head;
}

// The object as a request for it alone would answer it.
std::string with_type(std::string_view text, const ListedHead& head, const WatchedKind& kind) {
  std::string type;
  if (!head.has_kind) type += fmt::format(R"("kind":"{}",)", kind.kind_name);
  if (!head.has_api_version) type += fmt::format(R"("apiVersion":"{}",)", kind.api_version);
  std::string typed(text);
  // An object without a member cannot have been listed: it would have no name.
  if (!head.name.empty()) typed.insert(typed.find('{') + 1, type);
  return typed;
}

void add_listed(std::string_view text, const WatchedKind& kind, const std::string& where,
                Interner& interner, ObjectList& list) {
  const ListedHead head = read_listed_head(text);
  ManifestObject object;
  object.kind = kind.kind;
  object.api_version = kind.api_version;
  object.kind_text = kind.kind_name;
  object.namespace_name = head.namespace_name;
  object.name = head.name;
  object.json = with_type(text, head, kind);
  object.where = where;
  Result<AnyObject> decoded = decode_object(kind.kind, object.json, interner, nullptr);
  if (!decoded) {
    list.undecodable.push_back(fmt::format("{} {}{}{}: {}", kind.kind_name, head.namespace_name,
                                           head.namespace_name.empty() ? "" : "/", head.name,
                                           decoded.error().message));
    return;
  }
  object.object = *std::move(decoded);
  list.objects.push_back(std::move(object));
}

// Adds the items of a page.
Result<ListMeta> add_page(std::string_view body, const WatchedKind& kind, const std::string& where,
                          Interner& interner, ObjectList& list) {
  ListMeta meta;
  std::string kind_name;
  JsonReader json(body);
  json.fields([&](std::string_view field) {
    if (field == "kind") {
      kind_name = json.text();
    } else if (field == "metadata") {
      json.fields([&](std::string_view member) {
        if (member == "continue") meta.continue_token = json.text();
        if (member == "resourceVersion") meta.resource_version = json.text();
      });
    } else if (field == "items") {
      json.items([&] { add_listed(json.raw(), kind, where, interner, list); });
    }
  });
  const std::string expected = kind.kind_name + "List";
  if (json.error())
    return fail(ErrorKind::kInvalid,
                fmt::format("the answer is no {}: {}", expected, json.error()->message));
  if (kind_name != expected)
    return fail(ErrorKind::kInvalid,
                fmt::format("the answer is no {}, but of kind \"{}\"", expected, kind_name));
  return meta;
}

ApiCall page_call(const WatchedKind& kind, const ListOptions& options,
                  const std::string& continue_token, bool paged) {
  ApiCall call;
  call.path = kind.path();
  char separator = '?';
  const auto parameter = [&call, &separator](std::string_view name, std::string_view value) {
    if (value.empty()) return;
    call.path += fmt::format("{}{}={}", separator, name, net::escape(value));
    separator = '&';
  };
  parameter("continue", continue_token);
  parameter("fieldSelector", kind.field_selector);
  parameter("limit", paged ? fmt::format("{}", options.page_size) : "");
  call.accept = kJsonContentType;
  call.timeout = options.timeout;
  return call;
}

}  // namespace

Task<std::expected<ObjectList, ApiFailure>> list_objects(ApiClient& client, WatchedKind kind,
                                                         ListOptions options, Interner& interner) {
  ObjectList list;
  std::string token;
  bool paged = true;
  while (true) {
    Task<ApiResult> asking = client.call(page_call(kind, options, token, paged));
    ApiResult answer = co_await asking;
    if (!answer) {
      const bool outlived = paged && !token.empty() && is_expired(answer.error().status);
      if (!outlived) co_return std::unexpected(std::move(answer.error()));
      list = {};
      token.clear();
      paged = false;
      continue;
    }
    Result<ListMeta> meta = add_page(answer->body, kind, options.where, interner, list);
    if (!meta) {
      ApiFailure failure{std::move(meta.error()), {}};
      failure.status.code = answer->code;
      co_return std::unexpected(std::move(failure));
    }
    if (list.resource_version.empty()) list.resource_version = std::move(meta->resource_version);
    token = std::move(meta->continue_token);
    if (token.empty()) co_return list;
  }
}

}  // namespace berth::kube
