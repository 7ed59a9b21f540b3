// What an extender answers.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "base/ascii.h"
#include "extender/wire.h"
#include "wire/json_reader.h"
#include "wire/json_tree.h"

namespace berth::extender {
namespace {

// Beyond this a text that is no JSON is not read a second time for a better sentence about it.
constexpr std::size_t kMostExplained = std::size_t{1} << 20;

// Reads trees as Go reads into structs: what is of another type is left out and noted, the first of
// it is the error in the end. `into` is what was expected: "Go value of type v1.HostPriority".
class TreeReader {
 public:
  template <typename OnMember>
  void object(const JsonValue& value, std::string_view into, OnMember&& on_member) {
    if (value.is_null()) return;
    if (value.kind != JsonValue::Kind::kObject) return complain(go_name(value.kind), into);
    for (const JsonMember& member : value.members) on_member(member.name, member.value);
  }
  template <typename OnItem>
  void array(const JsonValue& value, std::string_view into, OnItem&& on_item) {
    if (value.is_null()) return;
    if (value.kind != JsonValue::Kind::kArray) return complain(go_name(value.kind), into);
    for (const JsonValue& item : value.items) on_item(item);
  }
  void text(const JsonValue& value, std::string_view into, std::string& out) {
    if (value.is_null()) return;
    if (value.kind != JsonValue::Kind::kString) return complain(go_name(value.kind), into);
    out = value.text;
  }
  void number(const JsonValue& value, std::string_view into, std::int64_t& out) {
    if (value.is_null()) return;
    if (value.kind != JsonValue::Kind::kNumber) return complain(go_name(value.kind), into);
    const char* const end = value.text.data() + value.text.size();
    std::int64_t read = 0;
    const auto [stopped, failure] = std::from_chars(value.text.data(), end, read);
    if (failure != std::errc() || stopped != end) return complain("number " + value.text, into);
    out = read;
  }

  Result<void> result() const {
    if (first_complaint_.empty()) return {};
    return fail(ErrorKind::kInvalid, first_complaint_);
  }

 private:
  void complain(std::string_view what, std::string_view into) {
    if (first_complaint_.empty())
      first_complaint_ = fmt::format("json: cannot unmarshal {} into {}", what, into);
  }

  std::string first_complaint_;
};

// Go's decoder of streams has other words for an answer that ends too early.
Error as_of_a_stream(Error error) {
  if (error.message == "unexpected end of JSON input") error.message = "unexpected EOF";
  return error;
}

bool is_blank(std::string_view json) {
  return json.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

Result<JsonValue> read_tree(std::string_view json) {
  if (is_blank(json)) return fail(ErrorKind::kInvalid, "EOF");
  Result<JsonValue> tree = parse_json(json);
  if (!tree) return fail(as_of_a_stream(std::move(tree).error()));
  return tree;
}

void read_reasons(TreeReader& reader, const JsonValue& value, std::string_view field,
                  std::map<std::string, std::string>& out) {
  const std::string into = fmt::format("Go struct field ExtenderFilterResult.{} of type ", field);
  reader.object(value, into + "v1.FailedNodesMap",
                [&](const std::string& node, const JsonValue& why) {
                  reader.text(why, into + "string", out[node]);
                });
}

// The names of a NodeList. It may be large, and nothing else in it is of interest.
Result<std::vector<std::string>> read_node_list(std::string_view json) {
  std::vector<std::string> names;
  JsonReader list(json);
  list.fields([&](std::string_view field) {
    if (!same_but_for_case(field, "items")) return;
    list.items([&] {
      std::string& name = names.emplace_back();
      list.fields([&](std::string_view of_node) {
        if (!same_but_for_case(of_node, "metadata")) return;
        list.fields([&](std::string_view of_metadata) {
          if (same_but_for_case(of_metadata, "name")) name = list.text();
        });
      });
    });
  });
  if (list.error())
    return fail(ErrorKind::kInvalid, "the extender's Nodes: " + list.error()->message);
  return names;
}

// What a filter may answer with, as it stands there.
struct FilterResult {
  std::optional<std::vector<std::string>> nodes;
  std::optional<std::vector<std::string>> node_names;
  std::map<std::string, std::string> failed;
  std::map<std::string, std::string> failed_unresolvable;
  std::string error;
};

void read_filter_member(TreeReader& reader, std::string_view field, const JsonValue& value,
                        FilterResult& out) {
  if (same_but_for_case(field, "NodeNames")) {
    out.node_names.emplace();
    reader.array(value, "Go struct field ExtenderFilterResult.NodeNames of type []string",
                 [&](const JsonValue& name) {
                   reader.text(name,
                               "Go struct field ExtenderFilterResult.NodeNames of type string",
                               out.node_names->emplace_back());
                 });
  } else if (same_but_for_case(field, "FailedNodes")) {
    read_reasons(reader, value, "FailedNodes", out.failed);
  } else if (same_but_for_case(field, "FailedAndUnresolvableNodes")) {
    read_reasons(reader, value, "FailedAndUnresolvableNodes", out.failed_unresolvable);
  } else if (same_but_for_case(field, "Error")) {
    reader.text(value, "Go struct field ExtenderFilterResult.Error of type string", out.error);
  } else if (same_but_for_case(field, "Nodes")) {  // a list is read elsewhere
    reader.object(value, "Go struct field ExtenderFilterResult.Nodes of type v1.NodeList",
                  [](const std::string&, const JsonValue&) {});
  }
}

Result<FilterResult> read_filter_object(std::string_view json) {
  FilterResult result;
  TreeReader reader;
  std::optional<Error> broken;
  JsonReader members(json);
  members.fields([&](std::string_view field) {
    const std::string name(field);
    const std::string_view value = members.raw();
    if (same_but_for_case(name, "Nodes") && value.starts_with('{')) {
      Result<std::vector<std::string>> nodes = read_node_list(value);
      if (nodes)
        result.nodes = *std::move(nodes);
      else if (!broken)
        broken = nodes.error();
      return;
    }
    Result<JsonValue> tree = parse_json(value);
    if (tree)
      read_filter_member(reader, name, *tree, result);
    else if (!broken)
      broken = tree.error();
  });
  if (members.error() || broken) {
    if (json.size() <= kMostExplained)
      if (Result<JsonValue> tree = read_tree(json); !tree) return fail(tree.error());
    return fail(broken ? *broken : *members.error());
  }
  if (Result<void> read = reader.result(); !read) return fail(read.error());
  return result;
}

Result<FilterResult> read_filter(std::string_view json) {
  const std::size_t start = json.find_first_not_of(" \t\r\n");
  if (start != std::string_view::npos && json[start] == '{') return read_filter_object(json);
  Result<JsonValue> tree = read_tree(json);
  if (!tree) return fail(tree.error());
  TreeReader reader;
  reader.object(*tree, "Go value of type v1.ExtenderFilterResult",
                [](const std::string&, const JsonValue&) {});
  if (Result<void> read = reader.result(); !read) return fail(read.error());
  return FilterResult();
}

}  // namespace

Result<ExtenderVerdicts> read_filter_result(std::string_view json, bool by_name) {
  Result<FilterResult> read = read_filter(json);
  if (!read) return fail(read.error());
  if (!read->error.empty()) return fail(ErrorKind::kInternal, std::move(read->error));
  ExtenderVerdicts verdicts;
  if (by_name && read->node_names) {
    verdicts.nodes = *std::move(read->node_names);
  } else if (read->nodes) {
    verdicts.nodes = *std::move(read->nodes);
  }
  verdicts.failed = std::move(read->failed);
  verdicts.failed_unresolvable = std::move(read->failed_unresolvable);
  return verdicts;
}

Result<std::vector<ExtenderScore>> read_host_priorities(std::string_view json) {
  const Result<JsonValue> tree = read_tree(json);
  if (!tree) return fail(tree.error());
  std::vector<ExtenderScore> scores;
  TreeReader reader;
  reader.array(*tree, "Go value of type v1.HostPriorityList", [&](const JsonValue& item) {
    ExtenderScore& score = scores.emplace_back();
    reader.object(
        item, "Go value of type v1.HostPriority",
        [&](const std::string& field, const JsonValue& value) {
          if (same_but_for_case(field, "Host")) {
            reader.text(value, "Go struct field HostPriority.Host of type string", score.node);
          } else if (same_but_for_case(field, "Score")) {
            reader.number(value, "Go struct field HostPriority.Score of type int64", score.score);
          }
        });
  });
  if (Result<void> read = reader.result(); !read) return fail(read.error());
  return scores;
}

Result<void> read_binding_result(std::string_view json) {
  const Result<JsonValue> tree = read_tree(json);
  if (!tree) return fail(tree.error());
  std::string error;
  TreeReader reader;
  reader.object(*tree, "Go value of type v1.ExtenderBindingResult",
                [&](const std::string& field, const JsonValue& value) {
                  if (same_but_for_case(field, "Error"))
                    reader.text(value, "Go struct field ExtenderBindingResult.Error of type string",
                                error);
                });
  if (Result<void> read = reader.result(); !read) return read;
  if (!error.empty()) return fail(ErrorKind::kInternal, std::move(error));
  return {};
}

Result<MetaVictimsByNode> read_preemption_result(std::string_view json) {
  const Result<JsonValue> tree = read_tree(json);
  if (!tree) return fail(tree.error());
  MetaVictimsByNode victims;
  TreeReader reader;
  const auto read_pod = [&](const JsonValue& pod, ExtenderMetaVictims& out) {
    std::string& uid = out.pod_uids.emplace_back();
    reader.object(pod, "Go struct field MetaVictims.NodeNameToMetaVictims.Pods of type v1.MetaPod",
                  [&](const std::string& field, const JsonValue& value) {
                    if (same_but_for_case(field, "UID"))
                      reader.text(
                          value,
                          "Go struct field MetaPod.NodeNameToMetaVictims.Pods.UID of type string",
                          uid);
                  });
  };
  const auto read_victims = [&](const std::string& field, const JsonValue& value,
                                ExtenderMetaVictims& out) {
    if (same_but_for_case(field, "Pods")) {
      out.pod_uids.clear();
      reader.array(value,
                   "Go struct field MetaVictims.NodeNameToMetaVictims.Pods of type []*v1.MetaPod",
                   [&](const JsonValue& pod) { read_pod(pod, out); });
    } else if (same_but_for_case(field, "NumPDBViolations")) {
      reader.number(
          value, "Go struct field MetaVictims.NodeNameToMetaVictims.NumPDBViolations of type int64",
          out.pdb_violations);
    }
  };
  const auto read_node = [&](const std::string& node, const JsonValue& value) {
    ExtenderMetaVictims& out = victims[node];
    reader.object(value,
                  "Go struct field ExtenderPreemptionResult.NodeNameToMetaVictims of type "
                  "v1.MetaVictims",
                  [&](const std::string& field, const JsonValue& of_node) {
                    read_victims(field, of_node, out);
                  });
  };
  reader.object(*tree, "Go value of type v1.ExtenderPreemptionResult",
                [&](const std::string& field, const JsonValue& value) {
                  if (!same_but_for_case(field, "NodeNameToMetaVictims")) return;
                  reader.object(value,
                                "Go struct field ExtenderPreemptionResult.NodeNameToMetaVictims of "
                                "type map[string]*v1.MetaVictims",
                                read_node);
                });
  if (Result<void> read = reader.result(); !read) return fail(read.error());
  return victims;
}

}  // namespace berth::extender
