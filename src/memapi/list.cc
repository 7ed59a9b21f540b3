// Lists: which state, which page.

#include <fmt/format.h>

#include <utility>

#include "base/base64.h"
#include "base/go_quote.h"
#include "memapi/json_edit.h"
#include "memapi/reads.h"
#include "wire/json_text.h"

namespace berth::memapi {
std::string continue_token(std::uint64_t version, std::string_view start) {
  JsonValue token = JsonValue::object();
  token.add("v", JsonValue::of_text("meta.k8s.io/v1"));
  token.add("rv", JsonValue::of_number(fmt::format("{}", version)));
  token.add("start", JsonValue::of_text(start));
  return base64url(to_json(token));
}

Answer<ContinuePoint> parse_continue(std::string_view token) {
  const auto wrong = [](std::string_view why) {
    return refuse(ApiError::bad_request(
        fmt::format("invalid continue token: continue key is not valid: {}", why)));
  };
  const std::optional<std::string> bytes = decode_base64url(token);
  if (!bytes) return wrong("illegal base64 data");
  const Result<JsonValue> parsed = parse_json(*bytes);
  if (!parsed) return wrong(parsed.error().message);
  const auto version = int_at(*parsed, "rv");
  const std::string_view start = text_at(*parsed, "start");
  if (text_at(*parsed, "v") != "meta.k8s.io/v1" || !version || *version <= 0 || start.empty())
    return wrong("it was not made by this server");
  return ContinuePoint{static_cast<std::uint64_t>(*version), std::string(start)};
}

Answer<void> check_list_options(const ApiRequest& request, bool watch) {
  const std::string_view include = request.parameter("includeObject");
  if (request.form.form == Form::kTable && !include.empty() && include != "Object" &&
      include != "Metadata" && include != "None") {
    return refuse(ApiError::bad_request(
        fmt::format("unrecognized includeObject value: {}", go_quoted(include))));
  }
  std::vector<FieldProblem> problems;
  const std::string_view match = request.parameter("resourceVersionMatch");
  const std::string_view version = request.parameter("resourceVersion");
  const std::string field = "resourceVersionMatch";
  const bool initial = !request.parameter("sendInitialEvents").empty();
  const auto forbid = [&](std::string_view why) {
    problems.push_back(FieldProblem::forbidden(field, why));
  };
  const auto unsupported = [&](std::string_view supported) {
    problems.push_back(FieldProblem::not_supported(field, go_quoted(match), supported));
  };
  if (watch) {
    if (initial && match != "NotOlderThan") {
      forbid("sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
    } else if (!match.empty()) {
      if (!initial)
        forbid("resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided");
      if (match != "NotOlderThan") unsupported("\"NotOlderThan\"");
    }
  } else {
    if (initial) {
      problems.push_back(
          FieldProblem::forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"));
    }
    if (!match.empty()) {
      if (version.empty())
        forbid("resourceVersionMatch is forbidden unless resourceVersion is provided");
      if (!request.parameter("continue").empty())
        forbid("resourceVersionMatch is forbidden when continue is provided");
      if (match != "Exact" && match != "NotOlderThan")
        unsupported("\"Exact\", \"NotOlderThan\", \"\"");
      if (match == "Exact" && version == "0")
        forbid("resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
    }
  }
  if (problems.empty()) return {};
  return refuse(ApiError::invalid_options("ListOptions", std::move(problems)));
}

Answer<std::string> list_json(const ApiRequest& request, const Store& store, const Views& views) {
  const Resource& resource = *request.resource;
  if (auto fits = check_list_options(request, false); !fits) return refuse(std::move(fits.error()));
  Answer<Selection> selection = Selection::parse(resource, request.parameter("labelSelector"),
                                                 request.parameter("fieldSelector"));
  if (!selection) return refuse(std::move(selection.error()));
  Answer<std::optional<std::int64_t>> limit = request.number("limit");
  if (!limit) return refuse(std::move(limit.error()));
  Answer<std::optional<std::uint64_t>> version = request.version("resourceVersion");
  if (!version) return refuse(std::move(version.error()));

  ListRange range;
  range.namespace_name = request.namespace_name;
  const std::string_view match = request.parameter("resourceVersionMatch");
  // Parity: who takes any state gets all of it.
  const bool any_state = *version == 0 && match != "Exact";
  if (*limit && **limit > 0 && !any_state) range.limit = static_cast<std::size_t>(**limit);
  if (const std::string_view token = request.parameter("continue"); !token.empty()) {
    Answer<ContinuePoint> point = parse_continue(token);
    if (!point) return refuse(std::move(point.error()));
    range.version = point->version;
    range.start = std::move(point->start);
  } else if (*version && **version > 0) {
    const std::uint64_t current = store.version();
    if (**version > current) return refuse(ApiError::too_large_version(**version, current));
    if (match == "Exact") range.version = **version;
  }
  Answer<ListPage> page = store.list(resource, range, *selection);
  if (!page) {
    if (range.start.empty()) {
      page.error().message = fmt::format("The resourceVersion for the provided list is too old.");
    }
    return refuse(std::move(page.error()));
  }
  const std::string token = page->next.empty() ? "" : continue_token(page->version, page->next);
  return views.list(resource, *page, request.form.form, request.parameter("includeObject"), token,
                    selection->empty());
}

}  // namespace berth::memapi
