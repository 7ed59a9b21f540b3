#include "berth/node_selector.h"

#include <gtest/gtest.h>

#include "api/testing/builders.h"
#include "base/testing/names.h"

namespace berth {
namespace {

const std::string kValueRule =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  "
    "or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const std::string kUnsupported =
    "operator: Unsupported value: \"Foo\": supported values: \"In\", \"NotIn\", \"Exists\", "
    "\"DoesNotExist\", \"Gt\", \"Lt\"";

struct NodeSelectorTest : ::testing::Test {
  World world;
  Ref<const Node> node = world.node("n1").label("num", "10").label("disk", "ssd");

  const Symbols& symbols() { return *world.interner.symbols(); }
  SelectorRequirement requirement(std::string_view key, SelectorOperator op,
                                  const std::vector<std::string>& values = {}) {
    SelectorRequirement written{world.symbol(key), op, {}, {}};
    if (op == SelectorOperator::kUnknown) written.operator_text = world.symbol("Foo");
    for (const std::string& value : values) written.values.push_back(world.symbol(value));
    return written;
  }
  NodeSelectorTerm label(std::string_view key, SelectorOperator op,
                         const std::vector<std::string>& values = {}) {
    return {{requirement(key, op, values)}, {}};
  }
  NodeSelectorTerm field(std::string_view key, SelectorOperator op,
                         const std::vector<std::string>& values = {}) {
    return {{}, {requirement(key, op, values)}};
  }
  // "true", "false" or the error.
  std::string match(const std::vector<NodeSelectorTerm>& terms, const Node& subject) {
    const NodeSelector selector = NodeSelector::compile(terms, symbols());
    const Result<bool> result = selector.match_or_error(subject, symbols());
    EXPECT_EQ(selector.matches(subject, symbols()), result.value_or(false));
    if (!result) return result.error().message;
    return *result ? "true" : "false";
  }
  std::string match(const std::vector<NodeSelectorTerm>& terms) { return match(terms, *node); }
};

constexpr auto kIn = SelectorOperator::kIn;
constexpr auto kNotIn = SelectorOperator::kNotIn;
constexpr auto kExists = SelectorOperator::kExists;
constexpr auto kDoesNotExist = SelectorOperator::kDoesNotExist;
constexpr auto kGreaterThan = SelectorOperator::kGreaterThan;
constexpr auto kLessThan = SelectorOperator::kLessThan;
constexpr auto kUnknownOperator = SelectorOperator::kUnknown;

TEST_F(NodeSelectorTest, TermsAreOredAndTheirRequirementsAnded) {
  EXPECT_EQ(match({label("disk", kIn, {"ssd"})}), "true");
  EXPECT_EQ(match({label("disk", kIn, {"hdd"})}), "false");
  EXPECT_EQ(match({label("disk", kIn, {"hdd"}), label("num", kExists)}), "true");
  NodeSelectorTerm both = label("disk", kIn, {"ssd"});
  both.match_expressions.push_back(requirement("num", kDoesNotExist));
  EXPECT_EQ(match({both}), "false");
  NodeSelectorTerm with_field = label("disk", kIn, {"ssd"});
  with_field.match_fields.push_back(requirement("metadata.name", kIn, {"n2"}));
  EXPECT_EQ(match({with_field}), "false");
  with_field.match_fields.front() = requirement("metadata.name", kIn, {"n1"});
  EXPECT_EQ(match({with_field}), "true");
}

TEST_F(NodeSelectorTest, ComparesNumbers) {
  EXPECT_EQ(match({label("num", kGreaterThan, {"9"})}), "true");
  EXPECT_EQ(match({label("num", kGreaterThan, {"009"})}), "true");
  EXPECT_EQ(match({label("num", kGreaterThan, {"010"})}), "false");
  EXPECT_EQ(match({label("num", kLessThan, {"11"})}), "true");
  EXPECT_EQ(match({label("num", kLessThan, {"10"})}), "false");
  EXPECT_EQ(match({label("disk", kLessThan, {"10"})}), "false");
  EXPECT_EQ(match({label("absent", kLessThan, {"10"})}), "false");
}

TEST_F(NodeSelectorTest, NoUsableTermMatchesNoNode) {
  EXPECT_EQ(match({}), "false");
  EXPECT_EQ(match({NodeSelectorTerm{}}), "false");
  EXPECT_EQ(match({NodeSelectorTerm{}, label("num", kExists)}), "true");
}

TEST_F(NodeSelectorTest, FieldsAreTheNameAndOtherwiseEmpty) {
  EXPECT_EQ(match({field("metadata.name", kIn, {"n1"})}), "true");
  EXPECT_EQ(match({field("metadata.name", kIn, {"n2"})}), "false");
  EXPECT_EQ(match({field("metadata.name", kNotIn, {"n1"})}), "false");
  EXPECT_EQ(match({field("metadata.name", kNotIn, {"n2"})}), "true");
  EXPECT_EQ(match({field("other", kNotIn, {"x"})}), "true");
  EXPECT_EQ(match({field("other", kIn, {"x"})}), "false");
  EXPECT_EQ(match({field("other", kIn, {""})}), "true");
  EXPECT_EQ(match({field("other", kNotIn, {""})}), "false");
}

TEST_F(NodeSelectorTest, ANodeWithoutANameIsNotAskedForFields) {
  const Ref<const Node> nameless = world.node("");
  EXPECT_EQ(match({field("metadata.name", kIn, {"n2"})}, *nameless), "true");
  EXPECT_EQ(match({field("other", kIn, {"x"})}, *nameless), "true");
}

TEST_F(NodeSelectorTest, BrokenTermsNeverMatchAndSayWhy) {
  struct Row {
    std::vector<NodeSelectorTerm> terms;
    std::string result;
  };
  const std::string first = "nodeSelectorTerms[0].matchExpressions[0].";
  NodeSelectorTerm broken_twice = label("num", kUnknownOperator);
  broken_twice.match_fields.push_back(requirement("m", kIn));
  const std::vector<Row> rows = {
      {{field("metadata.name", kIn, {"n1", "n2"})},
       "nodeSelectorTerms[0].matchFields[0].values: Invalid value: [\"n1\",\"n2\"]: must have one "
       "element"},
      {{field("metadata.name", kNotIn)},
       "nodeSelectorTerms[0].matchFields[0].values: Invalid value: null: must have one element"},
      {{field("metadata.name", kExists)},
       "nodeSelectorTerms[0].matchFields[0].operator: Unsupported value: \"Exists\": supported "
       "values: \"In\", \"NotIn\""},
      {{label("num", kGreaterThan, {"+9"})},
       first + "values[0][num]: Invalid value: \"+9\": " + kValueRule},
      {{label("num", kGreaterThan, {"-9"})},
       first + "values[0][num]: Invalid value: \"-9\": " + kValueRule},
      {{label("num", kGreaterThan, {"abc"})},
       first + "values[0]: Invalid value: \"abc\": for 'Gt', 'Lt' operators, the value must be an "
               "integer"},
      {{label("num", kLessThan)},
       first + "values: Invalid value: null: for 'Gt', 'Lt' operators, exactly one value is "
               "required"},
      {{label("num", kLessThan, {"1", "2"})},
       first + "values: Invalid value: [\"1\",\"2\"]: for 'Gt', 'Lt' operators, exactly one value "
               "is required"},
      {{label("-", kUnknownOperator, {"-"})}, first + kUnsupported},
      {{NodeSelectorTerm{}, label("num", kUnknownOperator), label("num", kLessThan)},
       "[nodeSelectorTerms[1].matchExpressions[0]." + kUnsupported +
           ", nodeSelectorTerms[2].matchExpressions[0].values: Invalid value: null: for 'Gt', "
           "'Lt' operators, exactly one value is required]"},
      {{broken_twice},
       "[" + first + kUnsupported +
           ", nodeSelectorTerms[0].matchFields[0].values: Invalid value: null: must have one "
           "element]"},
      {{label("num", kUnknownOperator), label("num", kGreaterThan, {"9"})}, "true"},
  };
  for (const Row& row : rows) EXPECT_EQ(match(row.terms), row.result);
}

TEST_F(NodeSelectorTest, PreferencesAddTheWeightsOfMatchingTerms) {
  const Result<NodePreferences> preferences =
      NodePreferences::compile({{5, label("disk", kIn, {"ssd"})},
                                {7, label("disk", kIn, {"hdd"})},
                                {-2, label("num", kExists)},
                                {100, NodeSelectorTerm{}},
                                {0, label("num", kUnknownOperator)}},
                               symbols());
  ASSERT_TRUE(preferences.has_value()) << "empty and weightless terms are not even looked at";
  EXPECT_EQ(preferences->score(*node, symbols()), 3);
  EXPECT_FALSE(preferences->empty());
  EXPECT_TRUE(NodePreferences::compile({{1, NodeSelectorTerm{}}}, symbols())->empty());
}

TEST_F(NodeSelectorTest, OneBrokenPreferenceBreaksTheList) {
  const Result<NodePreferences> preferences =
      NodePreferences::compile({{0, label("num", kUnknownOperator)},
                                {1, label("num", kUnknownOperator)},
                                {1, label("num", kExists)},
                                {1, field("m", kIn)}},
                               symbols());
  ASSERT_FALSE(preferences.has_value());
  EXPECT_EQ(preferences.error().message,
            "[[1].matchExpressions[0]." + kUnsupported +
                ", [3].matchFields[0].values: Invalid value: null: must have one element]");
}

TEST_F(NodeSelectorTest, APodsNodeSelectorAndRequiredAffinityMustBothMatch) {
  const std::vector<Label> ssd = {{world.symbol("disk"), world.symbol("ssd")}};
  const std::vector<Label> hdd = {{world.symbol("disk"), world.symbol("hdd")}};
  NodeAffinity n1, n2, nowhere, preferring, broken;
  n1.required = {field("metadata.name", kIn, {"n1"})};
  n2.required = {field("metadata.name", kIn, {"n2"})};
  nowhere.required.emplace();
  preferring.preferred = {{1, field("metadata.name", kIn, {"n2"})}};
  broken.required = {label("num", kUnknownOperator)};
  struct Row {
    std::vector<Label> node_selector;
    const NodeAffinity* affinity;
    bool matches;
  };
  const std::vector<Row> rows = {
      {{}, nullptr, true},   {ssd, nullptr, true},    {hdd, nullptr, false},
      {ssd, &n1, true},      {hdd, &n1, false},       {ssd, &n2, false},
      {{}, &nowhere, false}, {{}, &preferring, true}, {{}, &broken, false},
  };
  for (const Row& row : rows) {
    const RequiredNodeAffinity required(row.node_selector, row.affinity, symbols());
    EXPECT_EQ(required.matches(*node, symbols()), row.matches);
    EXPECT_EQ(required.match_or_error(*node, symbols()).has_value(), row.affinity != &broken);
  }
  EXPECT_TRUE(RequiredNodeAffinity({}, &preferring, symbols()).empty());
  EXPECT_FALSE(RequiredNodeAffinity({}, &nowhere, symbols()).empty());
  EXPECT_EQ(RequiredNodeAffinity(hdd, &broken, symbols()).match_or_error(*node, symbols()), false)
      << "the affinity is not asked when the node selector already says no";
}

}  // namespace
}  // namespace berth
