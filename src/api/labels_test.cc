#include "berth/labels.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "api/names.h"

namespace berth {
namespace {

const std::string kNameRule =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const std::string kLabelValueRule =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  "
    "or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

struct LabelsTest : ::testing::Test {
  std::shared_ptr<Symbols> symbols = make_symbols();
  SymbolHold hold{symbols};

  Symbol sym(std::string_view text) { return hold.intern(text); }
  LabelSet set(const std::vector<std::pair<std::string, std::string>>& labels) {
    std::vector<Label> list;
    for (const auto& [key, value] : labels) list.push_back({sym(key), sym(value)});
    return LabelSet(list);
  }
  SelectorRequirement written(std::string_view key, std::string_view op,
                              const std::vector<std::string>& values = {}) {
    SelectorRequirement requirement{sym(key), SelectorOperator::kUnknown, sym(op), {}};
    for (const std::string& value : values) requirement.values.push_back(sym(value));
    for (const SelectorOperator known :
         {SelectorOperator::kIn, SelectorOperator::kNotIn, SelectorOperator::kExists,
          SelectorOperator::kDoesNotExist, SelectorOperator::kGreaterThan,
          SelectorOperator::kLessThan})
      if (op == operator_text({{}, known, {}, {}}, *symbols)) {
        requirement.op = known;
        requirement.operator_text = {};
      }
    return requirement;
  }
  // The error of a selector with this one expression.
  std::string error(std::string_view key, std::string_view op,
                    const std::vector<std::string>& values = {}) {
    LabelSelector selector;
    selector.match_expressions.push_back(written(key, op, values));
    const Result<Selector> compiled = Selector::compile(selector, *symbols);
    return compiled ? "compiled" : compiled.error().message;
  }
  bool matches(const SelectorRequirement& requirement, const LabelSet& labels) {
    const Result<Requirement> compiled = compile_requirement(requirement, *symbols, "");
    EXPECT_TRUE(compiled.has_value());
    return compiled && compiled->matches(labels, *symbols);
  }
};

TEST_F(LabelsTest, ASetKeepsTheLastOfEqualKeys) {
  const LabelSet labels = set({{"b", "1"}, {"a", "2"}, {"b", "3"}, {"c", ""}});
  EXPECT_EQ(labels.size(), 3U);
  EXPECT_EQ(labels.get(sym("b")), sym("3"));
  EXPECT_EQ(labels.get(sym("a")), sym("2"));
  EXPECT_TRUE(labels.contains(sym("c")));
  EXPECT_EQ(labels.get(sym("c")), Symbol{});
  EXPECT_FALSE(labels.contains(sym("d")));
  EXPECT_EQ(labels.get(sym("d")), Symbol{});
  EXPECT_EQ(labels, set({{"c", ""}, {"a", "2"}, {"b", "3"}}));
  EXPECT_NE(labels, set({{"c", ""}, {"a", "2"}, {"b", "1"}}));
}

TEST_F(LabelsTest, RequirementsMatchByTheirOperator) {
  struct Row {
    std::string op;
    std::vector<std::string> values;
    bool absent, one, two, empty;  // whether they match no label, x=1, x=2 and an empty x
  };
  const std::vector<Row> rows = {
      {"In", {"1"}, false, true, false, false},
      {"In", {"2", "1"}, false, true, true, false},
      {"In", {""}, false, false, false, true},
      {"NotIn", {"1"}, true, false, true, true},
      {"NotIn", {"3", "2", "1"}, true, false, false, true},
      {"Exists", {}, false, true, true, true},
      {"DoesNotExist", {}, true, false, false, false},
      {"Gt", {"1"}, false, false, true, false},
      {"Lt", {"2"}, false, true, false, false},
      {"Gt", {"001"}, false, false, true, false},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.op);
    const SelectorRequirement requirement = written("x", row.op, row.values);
    EXPECT_EQ(matches(requirement, set({{"y", "1"}})), row.absent);
    EXPECT_EQ(matches(requirement, set({{"x", "1"}, {"y", "2"}})), row.one);
    EXPECT_EQ(matches(requirement, set({{"x", "2"}})), row.two);
    EXPECT_EQ(matches(requirement, set({{"x", ""}})), row.empty);
  }
}

TEST_F(LabelsTest, ComparisonsReadLabelsAsSigned64BitNumbers) {
  struct Row {
    std::string label;
    bool greater, less;  // than 10
  };
  const std::vector<Row> rows = {
      {"11", true, false},
      {"10", false, false},
      {"9", false, true},
      {"-5", false, true},
      {"+11", true, false},
      {"0000011", true, false},
      {"9223372036854775807", true, false},
      {"9223372036854775808", false, false},  // does not fit: no number at all
      {"-9223372036854775808", false, true},
      {"-9223372036854775809", false, false},
      {"1_1", false, false},
      {"11a", false, false},
      {"1.5", false, false},
      {"+", false, false},
      {"", false, false},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.label);
    EXPECT_EQ(matches(written("x", "Gt", {"10"}), set({{"x", row.label}})), row.greater);
    EXPECT_EQ(matches(written("x", "Lt", {"10"}), set({{"x", row.label}})), row.less);
  }
}

TEST_F(LabelsTest, AnAbsentSelectorMatchesNothingAndAnEmptyOneEverything) {
  const Selector absent = *Selector::compile(std::nullopt, *symbols);
  EXPECT_TRUE(absent.is_nothing());
  EXPECT_FALSE(absent.is_empty());
  EXPECT_FALSE(absent.matches(set({}), *symbols));
  EXPECT_EQ(absent, Selector::nothing());
  const Selector empty = *Selector::compile(LabelSelector{}, *symbols);
  EXPECT_FALSE(empty.is_nothing());
  EXPECT_TRUE(empty.is_empty());
  EXPECT_TRUE(empty.matches(set({}), *symbols));
  EXPECT_TRUE(empty.matches(set({{"a", "1"}}), *symbols));
  EXPECT_EQ(empty, Selector::everything());
}

TEST_F(LabelsTest, AllRequirementsOfASelectorMustMatch) {
  LabelSelector selector;
  selector.match_labels = {{sym("app"), sym("web")}, {sym("tier"), sym("front")}};
  selector.match_expressions = {written("env", "NotIn", {"test"})};
  const Selector compiled = *Selector::compile(selector, *symbols);
  EXPECT_TRUE(compiled.matches(set({{"app", "web"}, {"tier", "front"}}), *symbols));
  EXPECT_FALSE(compiled.matches(set({{"app", "web"}, {"tier", "back"}}), *symbols));
  EXPECT_FALSE(compiled.matches(set({{"app", "web"}}), *symbols));
  EXPECT_FALSE(
      compiled.matches(set({{"app", "web"}, {"tier", "front"}, {"env", "test"}}), *symbols));
}

TEST_F(LabelsTest, SelectorsAreEqualInWhateverOrderTheyWereWritten) {
  LabelSelector one, other;
  one.match_expressions = {written("a", "In", {"1", "2"}), written("b", "Exists"),
                           written("a", "NotIn", {"3"})};
  other.match_expressions = {written("a", "NotIn", {"3"}), written("b", "Exists"),
                             written("a", "In", {"2", "1", "2"})};
  EXPECT_EQ(*Selector::compile(one, *symbols), *Selector::compile(other, *symbols));
}

TEST_F(LabelsTest, APlainSetIsNotChecked) {
  const Selector selector = Selector::of_set({{sym("not a key!"), sym("{{value}}")}});
  EXPECT_TRUE(selector.matches(set({{"not a key!", "{{value}}"}}), *symbols));
  EXPECT_FALSE(selector.matches(set({{"not a key!", "other"}}), *symbols));
  EXPECT_TRUE(Selector::of_set({}).is_empty());
}

TEST_F(LabelsTest, ErrorsAreUpstreamsSentences) {
  struct Row {
    std::string key, op;
    std::vector<std::string> values;
    std::string error;
  };
  const std::string long_key(64, 'a'), long_value(64, 'b'), dashes(64, '-');
  const std::string long_prefix = std::string(254, 'a') + "/b";
  const std::vector<Row> rows = {
      {"service",
       "In",
       {"{{.bad-value.}}"},
       "values[0][service]: Invalid value: \"{{.bad-value.}}\": " + kLabelValueRule},
      {"a", "Gt", {"1"}, "\"Gt\" is not a valid label selector operator"},
      {"a", "fo\"o", {"1"}, "\"fo\\\"o\" is not a valid label selector operator"},
      {"a", "", {}, "\"\" is not a valid label selector operator"},
      {"a",
       "In",
       {},
       "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty"},
      {"a",
       "Exists",
       {"x", "<y>"},
       "[values: Invalid value: [\"x\",\"\\u003cy\\u003e\"]: values set must be empty for exists "
       "and does not exist, values[1][a]: Invalid value: \"<y>\": " +
           kLabelValueRule + "]"},
      {"",
       "Exists",
       {},
       "key: Invalid value: \"\": name part must be non-empty; name part " + kNameRule},
      {"a/b/c",
       "Exists",
       {},
       "key: Invalid value: \"a/b/c\": a valid label key " + kNameRule +
           " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"},
      {"/b", "Exists", {}, "key: Invalid value: \"/b\": prefix part must be non-empty"},
      {"Ab/b",
       "DoesNotExist",
       {},
       "key: Invalid value: \"Ab/b\": prefix part a lowercase RFC 1123 subdomain must consist of "
       "lower case alphanumeric characters, '-' or '.', and must start and end with an "
       "alphanumeric character (e.g. 'example.com', regex used for validation is "
       "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"},
      {long_key,
       "Exists",
       {},
       "key: Invalid value: \"" + long_key + "\": name part must be no more than 63 bytes"},
      {long_prefix,
       "Exists",
       {},
       "key: Invalid value: \"" + long_prefix + "\": prefix part must be no more than 253 bytes"},
      {"a",
       "In",
       {long_value},
       "values[0][a]: Invalid value: \"" + long_value + "\": must be no more than 63 bytes"},
      {"a",
       "In",
       {dashes},
       "values[0][a]: Invalid value: \"" + dashes + "\": must be no more than 63 bytes; " +
           kLabelValueRule},
      {"-",
       "In",
       {},
       "[key: Invalid value: \"-\": name part " + kNameRule +
           ", values: Invalid value: null: for 'in', 'notin' operators, values set can't be "
           "empty]"},
      {"a",
       "In",
       {"\x01\xc3\xa9\n"},
       "values[0][a]: Invalid value: \"\\x01\xc3\xa9\\n\": " + kLabelValueRule},
  };
  for (const Row& row : rows) EXPECT_EQ(error(row.key, row.op, row.values), row.error);
}

TEST_F(LabelsTest, ABrokenMatchLabelIsAnErrorToo) {
  LabelSelector selector;
  selector.match_labels = {{sym("app"), sym("-")}};
  const Result<Selector> compiled = Selector::compile(selector, *symbols);
  ASSERT_FALSE(compiled.has_value());
  EXPECT_EQ(compiled.error().message, "values[0][app]: Invalid value: \"-\": " + kLabelValueRule);
}

TEST_F(LabelsTest, OfVeryManyErrorsTheFirstAreNamedAndTheRestCounted) {
  std::vector<std::string> sentences;
  for (int i = 0; i < 60'000; ++i)
    sentences.push_back(fmt::format("nodeSelectorTerms[{}].matchExpressions[0].key: wrong", i));
  const std::string message = aggregate(sentences).message;
  EXPECT_TRUE(message.starts_with("[nodeSelectorTerms[0].matchExpressions[0].key: wrong, nodeSel"));
  EXPECT_TRUE(message.ends_with(" more]")) << message.substr(message.size() - 100);
  EXPECT_LT(message.size(), kLongestAggregate + 200);
}

TEST_F(LabelsTest, AggregatedErrorsAreNamedOnce) {
  EXPECT_EQ(aggregate({"a"}).message, "a");
  EXPECT_EQ(aggregate({"a", "a"}).message, "a");
  EXPECT_EQ(aggregate({"b", "a", "b", "c"}).message, "[b, a, c]");
}

TEST(LabelSyntax, Keys) {
  for (const std::string_view key :
       {"a", "A-b_c.d", "example.com/name", "a.b-c.d/E", "1/2", "kubernetes.io/hostname"})
    EXPECT_TRUE(is_valid_label_key(key)) << key;
  for (const std::string_view key : {"", "-a", "a-", "a b", "/a", "a/", "a/b/c", "A/b", "a..b/c",
                                     "-a/b", "a-/b", ".a/b", "a./b", "a_b/c", "\xc3\xa4"})
    EXPECT_FALSE(is_valid_label_key(key)) << key;
  EXPECT_TRUE(is_valid_label_key(std::string(253, 'p') + "/" + std::string(63, 'n')));
  EXPECT_FALSE(is_valid_label_key(std::string(254, 'p') + "/n"));
  EXPECT_FALSE(is_valid_label_key(std::string(64, 'n')));
}

TEST(LabelSyntax, Values) {
  for (const std::string_view value : {"", "a", "A1", "a-b_c.d", "0"})
    EXPECT_TRUE(is_valid_label_value(value)) << value;
  for (const std::string_view value : {"-", "a-", ".a", "a b", "a/b", "+9", "-9"})
    EXPECT_FALSE(is_valid_label_value(value)) << value;
  EXPECT_TRUE(is_valid_label_value(std::string(63, 'v')));
  EXPECT_FALSE(is_valid_label_value(std::string(64, 'v')));
}

}  // namespace
}  // namespace berth
