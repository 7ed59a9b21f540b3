#include "plugins/node_affinity/node_affinity.h"

#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "berth/topology.h"
#include "plugins/required_node_affinity.h"
#include "plugins/testing/plugin_fixture.h"

namespace berth::plugins {
namespace {

using enum SelectorOperator;
using Nodes = std::vector<std::string>;

constexpr ClusterEvent kNodeAffinityNodeEvent{
    EventResource::kNode, action::kAdd | action::kUpdateNodeLabel, {}};

// A requirement, a term and an affinity in words; Written makes symbols of them.
struct Asked {
  std::string key;
  SelectorOperator op;
  std::vector<std::string> values;
};
struct Term {
  std::vector<Asked> labels;
  std::vector<Asked> fields;
};
struct Preferred {
  std::int32_t weight;
  Term term;
};

std::vector<SelectorRequirement> written(const std::vector<Asked>& asked, SymbolHold& symbols) {
  std::vector<SelectorRequirement> requirements;
  for (const Asked& one : asked) {
    SelectorRequirement requirement;
    requirement.key = symbols.intern(one.key);
    requirement.op = one.op;
    if (one.op == kUnknown) requirement.operator_text = symbols.intern("Near");
    for (const std::string& value : one.values) requirement.values.push_back(symbols.intern(value));
    requirements.push_back(std::move(requirement));
  }
  return requirements;
}

NodeSelectorTerm written(const Term& term, SymbolHold& symbols) {
  return {written(term.labels, symbols), written(term.fields, symbols)};
}

::berth::NodeAffinity written(const std::optional<std::vector<Term>>& required,
                              const std::vector<Preferred>& preferred, SymbolHold& symbols) {
  ::berth::NodeAffinity affinity;
  if (required) {
    affinity.required.emplace();
    for (const Term& term : *required) affinity.required->push_back(written(term, symbols));
  }
  for (const Preferred& one : preferred)
    affinity.preferred.push_back({one.weight, written(one.term, symbols)});
  return affinity;
}

Term named(std::vector<std::string> names) { return {{}, {{"metadata.name", kIn, names}}}; }

class NodeAffinityTest : public ::testing::Test {
 protected:
  PluginFixture fixture;
  testing::World& world = fixture.world;
  const Verdict not_added = unresolvable({"node(s) didn't match scheduler-enforced node affinity"});
  const Verdict not_the_pods = unresolvable({"node(s) didn't match Pod's node affinity/selector"});

  testing::PodBuilder pod(const std::optional<std::vector<Term>>& required,
                          const std::vector<Preferred>& preferred = {}) {
    testing::PodBuilder builder = world.pod("p");
    Affinity affinity;
    affinity.node = written(required, preferred, builder.spec().symbols);
    builder.spec().affinity = std::make_shared<const Affinity>(std::move(affinity));
    return builder;
  }

  config::PluginArgs added(const std::optional<std::vector<Term>>& required,
                           const std::vector<Preferred>& preferred = {}) {
    config::NodeAffinityArgs args;
    args.symbols = world.interner.hold();
    args.added_affinity = written(required, preferred, args.symbols);
    return args;
  }

  std::string error_of(const config::PluginArgs& arguments) {
    const auto made = NodeAffinity::create(arguments, fixture.handle());
    return made ? "" : made.error().message;
  }

  // What PreFilter says, and to which nodes it narrows.
  std::pair<Outcome, std::optional<Nodes>> pre_filter(const NodeAffinity& plugin,
                                                      const Ref<const Pod>& asked) {
    Cycle cycle(asked, fixture.cluster);
    const PreFilterResult result = plugin.pre_filter(cycle);
    if (!result.nodes) return {result.outcome, std::nullopt};
    Nodes names;
    for (const Symbol name : *result.nodes) names.emplace_back(asked->text(name));
    std::ranges::sort(names);
    return {result.outcome, names};
  }
};

TEST_F(NodeAffinityTest, RejectsNodesThatThePodDoesNotAskFor) {
  fixture.add_node(world.node("n").label("disk", "ssd").label("cores", "16").label("bare", ""));
  struct Row {
    const char* why;
    Ref<const Pod> pod;
    bool fits;
  };
  const auto one = [&](std::vector<Asked> labels) { return pod(std::vector{Term{labels, {}}}); };
  const Row table[] = {
      {"selector", world.pod("p").node_selector("disk", "ssd"), true},
      {"selector, another value", world.pod("p").node_selector("disk", "hdd"), false},
      {"selector, another key", world.pod("p").node_selector("gpu", "ssd"), false},
      {"selector, one of two", world.pod("p").node_selector("disk", "ssd").node_selector("x", "y"),
       false},
      {"selector, empty value", world.pod("p").node_selector("bare", ""), true},
      {"selector, absent key is not an empty value", world.pod("p").node_selector("x", ""), false},
      {"selector, not checked", world.pod("p").node_selector("disk", "{{bad}}"), false},
      {"In", one({{"disk", kIn, {"hdd", "ssd"}}}), true},
      {"In, other values", one({{"disk", kIn, {"hdd"}}}), false},
      {"In without values", one({{"disk", kIn, {}}}), false},
      {"NotIn", one({{"disk", kNotIn, {"hdd"}}}), true},
      {"NotIn of what is there", one({{"disk", kNotIn, {"ssd"}}}), false},
      {"NotIn of an absent key", one({{"gpu", kNotIn, {"ssd"}}}), true},
      {"Exists", one({{"bare", kExists, {}}}), true},
      {"Exists with values makes no sense", one({{"bare", kExists, {"x"}}}), false},
      {"DoesNotExist", one({{"gpu", kDoesNotExist, {}}}), true},
      {"DoesNotExist of what is there", one({{"disk", kDoesNotExist, {}}}), false},
      {"Gt", one({{"cores", kGreaterThan, {"15"}}}), true},
      {"Gt is strict", one({{"cores", kGreaterThan, {"16"}}}), false},
      {"Gt with leading zeros", one({{"cores", kGreaterThan, {"015"}}}), true},
      {"Gt with a sign makes no sense", one({{"cores", kGreaterThan, {"-9"}}}), false},
      {"Lt", one({{"cores", kLessThan, {"17"}}}), true},
      {"Lt of no number", one({{"disk", kLessThan, {"17"}}}), false},
      {"unknown operator", one({{"disk", kUnknown, {"ssd"}}}), false},
      {"both of two", one({{"disk", kIn, {"ssd"}}, {"cores", kExists, {}}}), true},
      {"one of two", one({{"disk", kIn, {"ssd"}}, {"gpu", kExists, {}}}), false},
      {"one of two terms",
       pod(std::vector{Term{{{"gpu", kExists, {}}}, {}}, Term{{{"disk", kExists, {}}}, {}}}), true},
      {"a senseless term beside one that matches",
       pod(std::vector{Term{{{"disk", kIn, {}}}, {}}, Term{{{"disk", kExists, {}}}, {}}}), true},
      {"an empty term", pod(std::vector{Term{}}), false},
      {"no term", pod(std::vector<Term>{}), false},
      {"selector and affinity", one({{"cores", kExists, {}}}).node_selector("disk", "hdd"), false},
      {"name", pod(std::vector{named({"n"})}), true},
      {"another name", pod(std::vector{named({"m"})}), false},
      {"two names in one requirement make no sense", pod(std::vector{named({"n", "m"})}), false},
      {"any but this name", pod(std::vector{Term{{}, {{"metadata.name", kNotIn, {"n"}}}}}), false},
      {"any but another name", pod(std::vector{Term{{}, {{"metadata.name", kNotIn, {"m"}}}}}),
       true},
      {"other fields are empty", pod(std::vector{Term{{}, {{"spec.x", kNotIn, {"y"}}}}}), true},
      {"Exists is not for fields", pod(std::vector{Term{{}, {{"metadata.name", kExists, {}}}}}),
       false},
      {"name and label",
       pod(std::vector{Term{{{"disk", kExists, {}}}, {{"metadata.name", kIn, {"n"}}}}}), true},
      {"name, but not the label",
       pod(std::vector{Term{{{"gpu", kExists, {}}}, {{"metadata.name", kIn, {"n"}}}}}), false},
  };
  const auto plugin = fixture.make<NodeAffinity>();
  for (const Row& row : table) {
    const Verdict expected = row.fits ? Verdict{} : not_the_pods;
    EXPECT_EQ(fixture.filter(*plugin, row.pod)["n"], expected) << row.why;
    const NodeTable& nodes = fixture.cluster.nodes();
    EXPECT_EQ(required_node_affinity(*row.pod).matches(nodes.node(0), fixture.cluster.symbols()),
              row.fits)
        << row.why;
  }
}

TEST_F(NodeAffinityTest, APassOfOneRowGetsTheSameAnswer) {
  fixture.add_node(world.node("a").label("disk", "ssd"));
  fixture.add_node(world.node("b"));
  const auto plugin = fixture.make<NodeAffinity>();
  const Verdicts expected{{"a", {}}, {"b", not_the_pods}};
  const Ref<const Pod> asked = world.pod("p").node_selector("disk", "ssd");
  EXPECT_EQ(fixture.filter(*plugin, asked), expected);
  EXPECT_EQ(fixture.filter_one_by_one(*plugin, asked), expected);
}

TEST_F(NodeAffinityTest, FiltersAlsoWithoutWhatPreFilterLeft) {
  fixture.add_node(world.node("n"));
  const auto plugin = fixture.make<NodeAffinity>();
  CycleAtFilter at(world.pod("p").node_selector("disk", "ssd"), fixture.cluster);
  at.filter(*plugin);
  EXPECT_TRUE(at.feasible.empty());
}

TEST_F(NodeAffinityTest, APodThatAsksForNothingIsNotLookedAt) {
  const auto plugin = fixture.make<NodeAffinity>();
  EXPECT_EQ(pre_filter(*plugin, world.pod("p")).first.code, Code::kSkip);
  EXPECT_EQ(pre_filter(*plugin, pod(std::nullopt)).first.code, Code::kSkip);
  const auto enforcing = fixture.make<NodeAffinity>(added(std::vector{named({"n"})}));
  EXPECT_EQ(pre_filter(*enforcing, world.pod("p")).first.code, Code::kSuccess);
  const auto preferring = fixture.make<NodeAffinity>(added(std::nullopt, {{1, named({"n"})}}));
  EXPECT_EQ(pre_filter(*preferring, world.pod("p")).first.code, Code::kSkip);

  EXPECT_TRUE(required_node_affinity(*Ref<const Pod>(world.pod("p"))).empty());
}

TEST_F(NodeAffinityTest, AmongManyTermsThoseThatMatchAreFound) {
  fixture.add_node(world.node("a").label("disk", "ssd").label("size", "7"));
  fixture.add_node(world.node("b").label("disk", "hdd"));
  fixture.add_node(world.node("c"));
  const auto plugin = fixture.make<NodeAffinity>();
  std::vector<Term> hopeless;
  for (int i = 0; i < 300; ++i) {
    const std::string number = std::to_string(i);
    hopeless.push_back({{{"invented-" + number, kIn, {"x"}}}, {}});
    hopeless.push_back({{{"disk", kIn, {"tape-" + number}}}, {}});
    hopeless.push_back({{{"invented-" + number, kExists, {}}}, {}});
    hopeless.push_back({{{"-" + number, kIn, {"broken"}}}, {}});
  }
  const auto verdicts_with = [&](const Term& term) {
    std::vector<Term> terms = hopeless;
    terms.insert(terms.begin() + 500, term);
    return fixture.filter(*plugin, pod(std::move(terms)));
  };
  const Verdict no = not_the_pods;
  EXPECT_EQ(verdicts_with({{{"disk", kIn, {"tape", "ssd"}}}, {}}),
            (Verdicts{{"a", {}}, {"b", no}, {"c", no}}));
  EXPECT_EQ(verdicts_with({{{"size", kGreaterThan, {"5"}}}, {}}),
            (Verdicts{{"a", {}}, {"b", no}, {"c", no}}));
  EXPECT_EQ(verdicts_with({{{"disk", kNotIn, {"ssd"}}}, {}}),
            (Verdicts{{"a", no}, {"b", {}}, {"c", {}}}));
  EXPECT_EQ(verdicts_with({{{"invented", kDoesNotExist, {}}}, {}}),
            (Verdicts{{"a", {}}, {"b", {}}, {"c", {}}}));
  EXPECT_EQ(verdicts_with({{}, {{"metadata.name", kIn, {"c"}}}}),
            (Verdicts{{"a", no}, {"b", no}, {"c", {}}}));
  EXPECT_EQ(verdicts_with({{{"invented", kIn, {"x"}}}, {}}),
            (Verdicts{{"a", no}, {"b", no}, {"c", no}}));
  EXPECT_LE(fixture.cluster.topology().size(), 2U) << "invented keys have no columns";
}

TEST_F(NodeAffinityTest, AmongManyPreferencesThoseThatMatchCount) {
  fixture.add_node(world.node("a").label("disk", "ssd"));
  fixture.add_node(world.node("b"));
  std::vector<Preferred> preferred;
  for (int i = 0; i < 100; ++i)
    preferred.push_back({50, Term{{{"invented-" + std::to_string(i), kExists, {}}}, {}}});
  preferred.push_back({1, Term{{{"disk", kIn, {"ssd"}}}, {}}});
  EXPECT_EQ(fixture.score(*fixture.make<NodeAffinity>(), pod(std::nullopt, preferred)),
            (Scores{{"a", 100}, {"b", 0}}));
}

TEST_F(NodeAffinityTest, TermsThatNameTheirNodesNarrowTheSearch) {
  const Term ssd{{{"disk", kIn, {"ssd"}}}, {}};
  const Term named_ssd{ssd.labels, named({"n1"}).fields};
  const Term n1_and_n2{{}, {{"metadata.name", kIn, {"n1"}}, {"metadata.name", kIn, {"n2"}}}};
  const Term n1_of_two{{}, {{"metadata.name", kIn, {"n1", "n2"}}, {"metadata.name", kIn, {"n1"}}}};
  const Term not_n1{{}, {{"metadata.name", kNotIn, {"n1"}}}};
  const Term other_field{{}, {{"metadata.uid", kIn, {"n1"}}}};
  struct Row {
    const char* why;
    Ref<const Pod> pod;
    std::optional<Nodes> nodes;
  };
  const Row table[] = {
      {"selector only", world.pod("p").node_selector("a", "b"), std::nullopt},
      {"one name", pod(std::vector{named({"n1"})}), Nodes{"n1"}},
      {"two terms", pod(std::vector{named({"n2"}), named({"n1"})}), Nodes{"n1", "n2"}},
      {"twice the same", pod(std::vector{named({"n1"}), named({"n1"})}), Nodes{"n1"}},
      {"with labels", pod(std::vector{named_ssd}), Nodes{"n1"}},
      {"one term without a name", pod(std::vector{named({"n1"}), ssd}), std::nullopt},
      {"all values count", pod(std::vector{named({"n1", "n2"})}), Nodes{"n1", "n2"}},
      {"what requirements share", pod(std::vector{n1_of_two}), Nodes{"n1"}},
      {"a conflict beside a name", pod(std::vector{n1_and_n2, named({"n3"})}), Nodes{"n3"}},
      {"NotIn does not name", pod(std::vector{not_n1}), std::nullopt},
      {"another field does not name", pod(std::vector{other_field}), std::nullopt},
      {"no term", pod(std::vector<Term>{}), std::nullopt},
      {"an empty term", pod(std::vector{Term{}}), std::nullopt},
      {"an empty term beside a name", pod(std::vector{named({"n1"}), Term{}}), std::nullopt},
  };
  const auto plugin = fixture.make<NodeAffinity>();
  for (const Row& row : table) {
    const auto [outcome, nodes] = pre_filter(*plugin, row.pod);
    EXPECT_TRUE(outcome.ok()) << row.why;
    EXPECT_EQ(nodes, row.nodes) << row.why;
  }
  for (const Term& conflict : {n1_and_n2, named({})}) {
    const auto [outcome, nodes] = pre_filter(*plugin, pod(std::vector{conflict}));
    EXPECT_EQ(outcome.code, Code::kUnschedulableAndUnresolvable);
    EXPECT_EQ(outcome.message(), "pod affinity terms conflict");
  }
}

TEST_F(NodeAffinityTest, AddedAffinityIsAskedFirstAndNeverNarrows) {
  fixture.add_node(world.node("both").label("disk", "ssd").label("zone", "a"));
  fixture.add_node(world.node("added").label("zone", "a"));
  fixture.add_node(world.node("pods").label("disk", "ssd"));
  fixture.add_node(world.node("none"));
  const auto plugin =
      fixture.make<NodeAffinity>(added(std::vector{Term{{{"zone", kIn, {"a"}}}, {}}}));
  EXPECT_EQ(
      fixture.filter(*plugin, world.pod("p").node_selector("disk", "ssd")),
      (Verdicts{{"both", {}}, {"added", not_the_pods}, {"pods", not_added}, {"none", not_added}}));
  EXPECT_EQ(fixture.filter(*plugin, world.pod("p")),
            (Verdicts{{"both", {}}, {"added", {}}, {"pods", not_added}, {"none", not_added}}));
  const auto naming = fixture.make<NodeAffinity>(added(std::vector{named({"both"})}));
  EXPECT_EQ(pre_filter(*naming, world.pod("p")).second, std::nullopt);
  EXPECT_EQ(fixture.filter(*naming, world.pod("p"))["none"], not_added);
}

TEST_F(NodeAffinityTest, PrefersNodesThatMatchMoreWeight) {
  const auto term = [](const char* key, const char* value) {
    return Term{{{key, kIn, {value}}}, {}};
  };
  fixture.add_node(world.node("n1").label("foo", "bar"));
  fixture.add_node(world.node("n2").label("key", "value"));
  fixture.add_node(world.node("n5").label("foo", "bar").label("key", "value").label("az", "az1"));
  const auto plugin = fixture.make<NodeAffinity>();
  EXPECT_EQ(fixture.score(*plugin, pod(std::nullopt, {{2, term("foo", "bar")},
                                                      {4, term("key", "value")},
                                                      {5, term("az", "az1")}})),
            (Scores{{"n1", 18}, {"n2", 36}, {"n5", 100}}));
  EXPECT_EQ(fixture.score(*plugin, pod(std::nullopt, {{2, term("foo", "none")}})),
            (Scores{{"n1", 0}, {"n2", 0}, {"n5", 0}}));
  EXPECT_EQ(fixture.score(*plugin, pod(std::nullopt, {{3, named({"n2"})}})),
            (Scores{{"n1", 0}, {"n2", 100}, {"n5", 0}}));
  EXPECT_EQ(fixture.score(*plugin, pod(std::nullopt)), std::nullopt);
  EXPECT_EQ(fixture.score(*plugin, world.pod("p")), std::nullopt);

  // What the profile prefers counts beside it.
  const auto adding = fixture.make<NodeAffinity>(added(std::nullopt, {{8, term("key", "value")}}));
  EXPECT_EQ(fixture.score(*adding, pod(std::nullopt, {{2, term("foo", "bar")}})),
            (Scores{{"n1", 20}, {"n2", 80}, {"n5", 100}}));
  EXPECT_EQ(fixture.score(*adding, world.pod("p")), (Scores{{"n1", 0}, {"n2", 100}, {"n5", 100}}));
}

TEST_F(NodeAffinityTest, PreferredTermsWithoutWeightOrContentAreNotRead) {
  fixture.add_node(world.node("n"));
  const auto plugin = fixture.make<NodeAffinity>();
  const Term senseless{{{"foo", kIn, {}}}, {}};
  EXPECT_EQ(fixture.score(*plugin, pod(std::nullopt, {{0, senseless}, {5, Term{}}})),
            (Scores{{"n", 0}}));
  Cycle cycle(pod(std::nullopt, {{1, named({"n"})}, {1, senseless}}), fixture.cluster);
  const Outcome outcome = plugin->pre_score(cycle, fixture.cluster.nodes().nodes());
  EXPECT_EQ(outcome.code, Code::kError);
  EXPECT_EQ(outcome.message(),
            "[1].matchExpressions[0].values: Invalid value: null: for 'in', 'notin' operators, "
            "values set can't be empty");
  // Score reads them itself when PreScore did not.
  std::vector<Score> scores(fixture.cluster.nodes().rows());
  EXPECT_EQ(plugin->score(cycle, fixture.cluster.nodes().nodes(), scores).message(),
            outcome.message());
  const Cycle fine(pod(std::nullopt, {{7, named({"n"})}}), fixture.cluster);
  EXPECT_TRUE(plugin->score(fine, fixture.cluster.nodes().nodes(), scores).ok());
  EXPECT_EQ(scores[0], 7);
}

TEST_F(NodeAffinityTest, ArgumentsThatMakeNoSenseAreAnError) {
  const Term two_names = named({"a", "b"});
  EXPECT_EQ(error_of(added(std::vector{two_names})),
            "parsing addedAffinity.requiredDuringSchedulingIgnoredDuringExecution: "
            "nodeSelectorTerms[0].matchFields[0].values: Invalid value: [\"a\",\"b\"]: "
            "must have one element");
  EXPECT_EQ(error_of(added(std::nullopt, {{1, two_names}})),
            "parsing addedAffinity.preferredDuringSchedulingIgnoredDuringExecution: "
            "[0].matchFields[0].values: Invalid value: [\"a\",\"b\"]: must have one element");
  EXPECT_EQ(error_of(config::NodeResourcesFitArgs{}),
            "args are not of type NodeAffinityArgs, got *config.NodeResourcesFitArgs");
  EXPECT_EQ(error_of(config::NodeAffinityArgs{}), "");
  testing::World elsewhere;
  config::NodeAffinityArgs foreign;
  foreign.symbols = elsewhere.interner.hold();
  foreign.added_affinity.emplace();
  EXPECT_EQ(error_of(foreign), "addedAffinity was read with another scheduler's symbols");
}

TEST_F(NodeAffinityTest, QueuesWhenANodeBeginsToMatch) {
  const Ref<const Pod> asked = world.pod("p").node_selector("disk", "ssd");
  const Ref<const Object> matching = Ref<const Node>(world.node("n").label("disk", "ssd"));
  const Ref<const Object> added_too =
      Ref<const Node>(world.node("n").label("disk", "ssd").label("zone", "a"));
  const Ref<const Object> other = Ref<const Node>(world.node("n").label("disk", "hdd"));
  const Ref<const Object> zoned = Ref<const Node>(world.node("n").label("zone", "a"));
  const AnyObject nothing;
  struct Row {
    const char* why;
    AnyObject before, after;
    QueueingHint hint, with_added;
  };
  using enum QueueingHint;
  const Row table[] = {
      {"added matching", nothing, matching, kQueue, kSkip},
      {"added matching both", nothing, added_too, kQueue, kQueue},
      {"added not matching", nothing, other, kSkip, kSkip},
      {"began to match", other, matching, kQueue, kSkip},
      {"began to match both", other, added_too, kQueue, kQueue},
      {"had only the profile's label", zoned, added_too, kQueue, kQueue},
      {"matched the pod before", matching, added_too, kSkip, kSkip},
      {"ceased to match", matching, other, kSkip, kSkip},
      {"removed", matching, nothing, kSkip, kSkip},
  };
  const auto plugin = fixture.make<NodeAffinity>();
  const auto enforcing =
      fixture.make<NodeAffinity>(added(std::vector{Term{{{"zone", kIn, {"a"}}}, {}}}));
  for (const Row& row : table) {
    EXPECT_EQ(fixture.hint(*plugin, kNodeAffinityNodeEvent, asked, row.before, row.after), row.hint)
        << row.why;
    EXPECT_EQ(fixture.hint(*enforcing, kNodeAffinityNodeEvent, asked, row.before, row.after),
              row.with_added)
        << row.why;
  }
  EXPECT_EQ(registered_events(*plugin), (RegisteredEvents{{EventResource::kNode, 9}}));
}

TEST_F(NodeAffinityTest, AHintTellsWhatIsWrongWithThePodsTerms) {
  const auto plugin = fixture.make<NodeAffinity>();
  const std::vector<EventRegistration> events = plugin->events_to_register().value();
  const Ref<const Pod> senseless = pod(std::vector{Term{{{"foo", kIn, {}}}, {}}});
  const Ref<const Object> node = Ref<const Node>(world.node("n"));
  const auto answer = events[0].hint(*senseless, {}, node);
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().message,
            "nodeSelectorTerms[0].matchExpressions[0].values: Invalid value: null: for 'in', "
            "'notin' operators, values set can't be empty");
  const Ref<const Pod> other = world.pod("q");
  const auto wrong = events[0].hint(*senseless, {}, AnyObject(other));
  ASSERT_FALSE(wrong.has_value());
  EXPECT_EQ(wrong.error().message, "expected *v1.Node, but got *v1.Pod");
}

TEST_F(NodeAffinityTest, SignsSelectorAndAffinityInWhateverOrder) {
  const auto plugin = fixture.make<NodeAffinity>();
  const auto signature = [&](const Ref<const Pod>& asked) {
    return berth::testing::signature(
        *plugin, asked, {"v1.Pod.Spec.Affinity.NodeAffinity", "v1.Pod.Spec.Affinity.NodeSelector"});
  };
  const Asked a{"a", kIn, {"1", "2"}}, turned{"a", kIn, {"2", "1"}}, b{"b", kExists, {}};
  EXPECT_EQ(signature(pod(std::vector{Term{{a, b}, {}}, named({"n"})})),
            signature(pod(std::vector{named({"n"}), Term{{b, turned}, {}}})));
  EXPECT_EQ(signature(pod(std::nullopt, {{1, Term{{a}, {}}}, {2, Term{{b}, {}}}})),
            signature(pod(std::nullopt, {{2, Term{{b}, {}}}, {1, Term{{turned}, {}}}})));
  EXPECT_EQ(signature(world.pod("p").node_selector("a", "1").node_selector("b", "2")),
            signature(world.pod("p").node_selector("b", "2").node_selector("a", "1")));
  const Ref<const Pod> different[] = {
      world.pod("p"),
      world.pod("p").node_selector("a", "bc"),
      world.pod("p").node_selector("ab", "c"),
      pod(std::nullopt),
      pod(std::vector<Term>{}),
      pod(std::vector{Term{{a}, {}}}),
      pod(std::vector{Term{{}, {a}}}),
      pod(std::vector{Term{{a, b}, {}}}),
      pod(std::vector{Term{{a}, {}}, Term{{b}, {}}}),
      pod(std::nullopt, {{1, Term{{a}, {}}}}),
      pod(std::nullopt, {{2, Term{{a}, {}}}}),
  };
  std::vector<std::string> signatures;
  for (const Ref<const Pod>& one : different) signatures.push_back(signature(one));
  std::ranges::sort(signatures);
  EXPECT_EQ(std::ranges::adjacent_find(signatures), signatures.end());
}

}  // namespace
}  // namespace berth::plugins
