#include "cluster/affinity_pods.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <map>
#include <string>
#include <tuple>

#include "api/testing/builders.h"
#include "base/testing/names.h"
#include "berth/random.h"
#include "berth/views.h"
#include "cluster/trial.h"

namespace berth {
namespace {

using Role = AffinityPods::Role;

// Requirements in short: {"app", {"web"}} is In, {"app", {}} is Exists.
struct Wanted {
  std::string key;
  std::vector<std::string> values;
  SelectorOperator op = SelectorOperator::kIn;
};

class AffinityPodsTest : public ::testing::Test {
 protected:
  testing::World world;
  Cluster cluster{world.interner.symbols()};
  AffinityPods& pods = cluster.affinity_pods();

  static LabelSelector selector(PodBuilder& pod, const std::vector<Wanted>& wanted) {
    LabelSelector selector;
    for (const Wanted& want : wanted) {
      SelectorRequirement requirement;
      requirement.key = pod.symbol(want.key);
      requirement.op = want.op;
      for (const std::string& value : want.values) requirement.values.push_back(pod.symbol(value));
      selector.match_expressions.push_back(requirement);
    }
    return selector;
  }

  static PodAffinityTerm term(PodBuilder& pod, const std::vector<Wanted>& wanted,
                              const std::string& key = "zone") {
    PodAffinityTerm term;
    term.label_selector = selector(pod, wanted);
    term.topology_key = pod.symbol(key);
    return term;
  }

  static void add_term(PodBuilder& pod, Role role, PodAffinityTerm term, std::int32_t weight = 1) {
    Affinity affinity = pod.spec().affinity ? *pod.spec().affinity : Affinity();
    auto& stanza =
        role == Role::kRequired || role == Role::kPreferred ? affinity.pod : affinity.pod_anti;
    if (!stanza) stanza.emplace();
    if (role == Role::kRequired || role == Role::kRequiredAnti)
      stanza->required.push_back(std::move(term));
    else
      stanza->preferred.push_back({weight, std::move(term)});
    pod.spec().affinity = std::make_shared<const Affinity>(std::move(affinity));
  }

  PodBuilder pod_with(const std::string& name, Role role, const std::vector<Wanted>& wanted) {
    PodBuilder pod = world.pod(name);
    add_term(pod, role, term(pod, wanted));
    return pod;
  }

  testing::NodeBuilder hosting(const std::string& name) {
    testing::NodeBuilder made = world.node(name);
    made.label("host", name);
    return made;
  }
  void place(Ref<const Pod> pod) { ASSERT_TRUE(cluster.add_pod(std::move(pod)).has_value()); }

  // (role, topology key, weight, node name) to the number of pods.
  using Found = std::map<std::tuple<Role, std::string, std::int32_t, std::string>, std::int32_t>;

  Found found(const Ref<const Pod>& incoming, const LabelSet& namespace_labels = {}) {
    Found found;
    for (const auto& matches : {pods.required_anti_affinity(*incoming, namespace_labels),
                                pods.other_terms(*incoming, namespace_labels)})
      for (const AffinityPods::Match& match : matches) {
        // By a key that tells every node from every other.
        const TopologyColumn column = cluster.topology().column(world.symbol("host"));
        const DomainSums* sums = pods.by_domain(match, column);
        std::map<NodeRow, std::int64_t> visited;
        pods.for_each_place(match, [&](NodeRow row, std::int64_t here) { visited[row] += here; });
        cluster.nodes().nodes().for_each([&](NodeRow row) {
          if (sums) {
            EXPECT_EQ(sums->by_domain()[column.domains[row]], visited[row]);
          }
          if (visited[row] != 0)
            found[{match.role, std::string(incoming->text(match.term.topology_key)),
                   match.term.weight, std::string(cluster.nodes().name_text(row))}] +=
                static_cast<std::int32_t>(visited[row]);
        });
      }
    return found;
  }

  // The same, pod by pod.
  Found counted(const Ref<const Pod>& incoming, const LabelSet& namespace_labels = {}) {
    Found found;
    const NodeTable& nodes = cluster.nodes();
    nodes.nodes().for_each([&](NodeRow row) {
      for (const Ref<const Pod>& pod : nodes.pods(row)) {
        const AffinityTerms terms(*pod);
        for (const auto& [role, list] : {std::pair{Role::kRequired, &terms.required},
                                         {Role::kRequiredAnti, &terms.required_anti},
                                         {Role::kPreferred, &terms.preferred},
                                         {Role::kPreferredAnti, &terms.preferred_anti}})
          for (const AffinityTerm& term : *list)
            if (term.matches(*incoming, namespace_labels))
              ++found[{role, std::string(incoming->text(term.topology_key)), term.weight,
                       std::string(nodes.name_text(row))}];
      }
    });
    return found;
  }
};

TEST_F(AffinityPodsTest, FindsTheTermsThatMatchAPodAndWhereTheyAre) {
  cluster.add_node(hosting("n1"));
  cluster.add_node(hosting("n2"));
  place(pod_with("a", Role::kRequiredAnti, {{"app", {"web", "api"}}}).on("n1"));
  place(pod_with("b", Role::kRequiredAnti, {{"app", {"web", "api"}}}).on("n1"));
  place(pod_with("c", Role::kRequiredAnti, {{"app", {"web", "api"}}}).on("n2"));
  place(pod_with("d", Role::kPreferred, {{"app", {}, SelectorOperator::kExists}}).on("n2"));
  place(world.pod("e").on("n2"));
  EXPECT_EQ(pods.kinds(), 2u);
  EXPECT_EQ(found(world.pod("p").label("app", "web")),
            (Found{{{Role::kRequiredAnti, "zone", 0, "n1"}, 2},
                   {{Role::kRequiredAnti, "zone", 0, "n2"}, 1},
                   {{Role::kPreferred, "zone", 1, "n2"}, 1}}));
  EXPECT_EQ(found(world.pod("p").label("app", "other")),
            (Found{{{Role::kPreferred, "zone", 1, "n2"}, 1}}));
  EXPECT_EQ(found(world.pod("p")), Found());
  EXPECT_EQ(found(world.pod("p").in("elsewhere").label("app", "web")), Found());
}

TEST_F(AffinityPodsTest, KindsAreOfANamespace) {
  cluster.add_node(hosting("n1"));
  place(pod_with("a", Role::kRequiredAnti, {{"app", {"web"}}}).in("x").on("n1"));
  place(pod_with("b", Role::kRequiredAnti, {{"app", {"web"}}}).in("y").on("n1"));
  EXPECT_EQ(pods.kinds(), 2u);
  EXPECT_EQ(found(world.pod("p").in("x").label("app", "web")),
            (Found{{{Role::kRequiredAnti, "zone", 0, "n1"}, 1}}));
}

TEST_F(AffinityPodsTest, NamespacesAreThePodsOwnUnlessTheTermSaysOtherwise) {
  cluster.add_node(hosting("n1"));
  PodBuilder listing = world.pod("a");
  listing.on("n1");
  PodAffinityTerm listed = term(listing, {});
  listed.namespaces = {listing.symbol("x"), listing.symbol("y"), listing.symbol("x")};
  add_term(listing, Role::kPreferred, listed, 2);
  place(listing);
  PodBuilder selecting = world.pod("b");
  selecting.on("n1");
  PodAffinityTerm selected = term(selecting, {});
  selected.namespace_selector = selector(selecting, {{"team", {"red"}}});
  add_term(selecting, Role::kPreferred, selected, 3);
  place(selecting);
  const LabelSet red({{world.symbol("team"), world.symbol("red")}});
  const auto weights = [&](const Ref<const Pod>& incoming, const LabelSet& labels) {
    std::vector<std::int32_t> matched;
    for (const auto& [what, count] : found(incoming, labels)) matched.push_back(std::get<2>(what));
    return matched;
  };
  EXPECT_EQ(weights(world.pod("p"), {}), std::vector<std::int32_t>());  // neither names `default`
  EXPECT_EQ(weights(world.pod("p").in("x"), {}), std::vector<std::int32_t>{2});
  EXPECT_EQ(weights(world.pod("p").in("y"), red), (std::vector<std::int32_t>{2, 3}));
  EXPECT_EQ(weights(world.pod("p"), red), std::vector<std::int32_t>{3});
}

TEST_F(AffinityPodsTest, AbsentSelectorsMatchNothingAndEmptyOnesEverything) {
  cluster.add_node(hosting("n1"));
  PodBuilder pod = world.pod("a");
  pod.on("n1");
  PodAffinityTerm nothing = term(pod, {});
  nothing.label_selector.reset();
  add_term(pod, Role::kRequired, nothing);
  add_term(pod, Role::kRequired, term(pod, {}, "host"));
  place(pod);
  EXPECT_EQ(found(world.pod("p")), (Found{{{Role::kRequired, "host", 0, "n1"}, 1}}));
}

TEST_F(AffinityPodsTest, AListWithAnErrorIsEmptyAndTheOthersCount) {
  PodBuilder pod = world.pod("a");
  pod.on("n1");
  add_term(pod, Role::kRequired, term(pod, {{"app", {"web"}}}));
  add_term(pod, Role::kRequired, term(pod, {{"app", {}}}));  // In without values
  add_term(pod, Role::kPreferredAnti, term(pod, {{"app", {"-bad-"}}}));
  add_term(pod, Role::kRequiredAnti, term(pod, {{"app", {"web"}}}));
  const Ref<const Pod> built = pod;
  const AffinityTerms terms(*built);
  ASSERT_EQ(terms.errors.size(), 2u);
  EXPECT_EQ(terms.errors[0],
            "requiredAffinityTerms: values: Invalid value: null: for 'in', 'notin' operators, "
            "values set can't be empty");
  EXPECT_TRUE(terms.errors[1].starts_with(
      "preferredAntiAffinityTerms: values[0][app]: Invalid value: \"-bad-\": a valid label"));
  EXPECT_FALSE(required_affinity_terms(*built).has_value());
  EXPECT_EQ(required_anti_affinity_terms(*built)->size(), 1u);

  cluster.add_node(hosting("n1"));
  place(built);
  EXPECT_EQ(found(world.pod("p").label("app", "web")),
            (Found{{{Role::kRequiredAnti, "zone", 0, "n1"}, 1}}));
}

TEST_F(AffinityPodsTest, OnlyRowsWithANodeCount) {
  const Ref<const Pod> incoming = world.pod("p").label("app", "web");
  place(pod_with("a", Role::kRequiredAnti, {{"app", {"web"}}}).on("n1"));
  EXPECT_EQ(found(incoming), Found());
  cluster.add_node(hosting("n1"));
  EXPECT_EQ(found(incoming), (Found{{{Role::kRequiredAnti, "zone", 0, "n1"}, 1}}));
  ASSERT_TRUE(cluster.remove_node(world.symbol("n1")).has_value());
  EXPECT_EQ(found(incoming), Found());
  EXPECT_EQ(pods.kinds(), 0u);
}

TEST_F(AffinityPodsTest, TheEditsOfATrialDoNotShow) {
  const Ref<const Pod> incoming = world.pod("p").label("app", "web");
  cluster.add_node(hosting("n1"));
  const Ref<const Pod> placed = pod_with("a", Role::kRequiredAnti, {{"app", {"web"}}}).on("n1");
  place(placed);
  const Found before = found(incoming);
  ASSERT_EQ(before.size(), 1u);
  {
    Trial trial(cluster);
    trial.remove(placed, cluster.nodes().find(world.symbol("n1")));
    trial.add(pod_with("b", Role::kPreferred, {}), cluster.nodes().find(world.symbol("n1")));
    EXPECT_EQ(found(incoming), before);
  }
  place(world.pod("c").on("n1"));  // the row is looked at again
  EXPECT_EQ(found(incoming), before);
}

TEST_F(AffinityPodsTest, KnowsTheTermsOfPodsLikeThosePlaced) {
  cluster.add_node(hosting("n1"));
  const Ref<const Pod> sibling = pod_with("b", Role::kRequiredAnti, {{"app", {"web"}}});
  const Ref<const Pod> elsewhere = pod_with("b", Role::kRequiredAnti, {{"app", {"web"}}}).in("x");
  EXPECT_EQ(pods.known_terms(*sibling), nullptr);
  place(pod_with("a", Role::kRequiredAnti, {{"app", {"web"}}}).on("n1"));
  EXPECT_EQ(pods.kinds(), 1u);
  ASSERT_NE(pods.known_terms(*sibling), nullptr);
  EXPECT_EQ(pods.known_terms(*sibling)->required_anti.size(), 1u);
  EXPECT_EQ(pods.known_terms(*elsewhere), nullptr);
}

// Pods and nodes come, change and go at random; every answer is compared with one that is counted
// pod by pod. The parameter is how many changes there are between two questions; with more than
// the log keeps it has to look at everything.
class AffinityPodsChurn : public AffinityPodsTest, public ::testing::WithParamInterface<int> {
 protected:
  Random random{7};

  std::size_t draw(std::size_t bound) { return static_cast<std::size_t>(random.below(bound)); }
  std::string pick(std::initializer_list<const char*> of) {
    return *(of.begin() + draw(of.size()));
  }

  Ref<const Pod> any_pod(const std::string& name) {
    PodBuilder pod = world.pod(name);
    pod.in(pick({"x", "y"})).label("app", pick({"a", "b", "c"})).label("tier", pick({"1", "2"}));
    for (std::size_t i = draw(3); i > 0; --i) {
      std::vector<Wanted> wanted;
      if (draw(3) > 0) wanted.push_back({"app", {pick({"a", "b"}), pick({"b", "c"})}});
      if (draw(3) == 0) wanted.push_back({"tier", {pick({"1", "2"})}});
      if (draw(4) == 0) wanted.push_back({"app", {"a"}, SelectorOperator::kNotIn});
      PodAffinityTerm made = term(pod, wanted, pick({"zone", "host"}));
      if (draw(4) == 0) made.namespaces = {pod.symbol("x"), pod.symbol("y")};
      if (draw(5) == 0) made.namespace_selector = selector(pod, {{"team", {pick({"r", "g"})}}});
      if (draw(9) == 0) made.label_selector.reset();
      add_term(pod, static_cast<Role>(draw(4)), std::move(made),
               static_cast<std::int32_t>(1 + draw(3)));
    }
    return pod.on("n" + std::to_string(draw(6)));
  }

  void change() {
    const std::string name = "p" + std::to_string(draw(30));
    const std::string node = "n" + std::to_string(draw(6));
    switch (draw(8)) {
      case 0:
        if (cluster.nodes().has_node(cluster.nodes().find(world.symbol(node)))) {
          ASSERT_TRUE(cluster.remove_node(world.symbol(node)).has_value());
          break;
        }
        [[fallthrough]];
      case 1: cluster.add_node(hosting(node).zone(pick({"a", "b"}))); break;
      default: {
        const auto known = placed.find(name);
        if (known != placed.end()) {
          ASSERT_TRUE(cluster.remove_pod(*known->second).has_value());
          placed.erase(known);
          break;
        }
        const Ref<const Pod> pod = any_pod(name);
        ASSERT_TRUE(cluster.add_pod(pod).has_value());
        placed[name] = pod;
      }
    }
  }

  std::map<std::string, Ref<const Pod>> placed;
};

TEST_P(AffinityPodsChurn, AgreesWithCountingPodByPod) {
  const LabelSet red({{world.symbol("team"), world.symbol("r")}});
  std::size_t matches = 0;
  for (int round = 0; round < std::max(5, 30000 / (GetParam() + 50)); ++round) {
    for (int i = 0; i < GetParam(); ++i) change();
    const Ref<const Pod> incoming = any_pod("incoming");
    const Found expected = counted(incoming, red);
    ASSERT_EQ(found(incoming, red), expected) << "round " << round;
    matches += expected.size();
  }
  EXPECT_GT(matches, 0u);
  for (const auto& [name, pod] : placed) ASSERT_TRUE(cluster.remove_pod(*pod).has_value());
  EXPECT_EQ(pods.kinds(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Changes, AffinityPodsChurn, ::testing::Values(1, 7, 20000));

TEST_F(AffinityPodsTest, AKindOfFewPlacesKeepsNoSums) {
  for (int i = 0; i < 200; ++i) cluster.add_node(hosting("n" + std::to_string(i)));
  PodBuilder many = world.pod("many");
  for (int i = 0; i < 500; ++i)
    add_term(many, Role::kPreferred, term(many, {{"app", {"a" + std::to_string(i), "web"}}}));
  place(many.on("n3"));
  const Ref<const Pod> incoming = world.pod("p").label("app", "web");
  EXPECT_EQ(found(incoming), counted(incoming));
  EXPECT_EQ(pods.sum_bytes(), 0U);
}

TEST_F(AffinityPodsTest, AKindOfManyPlacesKeepsSumsForAsLong) {
  for (int i = 0; i < 100; ++i) cluster.add_node(hosting("n" + std::to_string(i)));
  std::vector<Ref<const Pod>> all;
  for (int i = 0; i < 100; ++i)
    all.push_back(pod_with("p" + std::to_string(i), Role::kRequiredAnti, {{"app", {"web"}}})
                      .on("n" + std::to_string(i)));
  for (const Ref<const Pod>& pod : all) place(pod);
  const Ref<const Pod> incoming = world.pod("p").label("app", "web");
  EXPECT_EQ(found(incoming), counted(incoming));
  EXPECT_GT(pods.sum_bytes(), 0U);
  for (int i = 0; i < 90; ++i) ASSERT_TRUE(cluster.remove_pod(*all[static_cast<std::size_t>(i)]));
  EXPECT_EQ(found(incoming), counted(incoming));
  EXPECT_EQ(pods.sum_bytes(), 0U);
}

TEST_F(AffinityPodsTest, TermsThatDifferOnlyInTheirNamespaceSelectorAreTheirOwn) {
  cluster.add_node(hosting("n"));
  PodBuilder many = world.pod("many");
  for (int i = 0; i < 50; ++i) {
    PodAffinityTerm one = term(many, {{"app", {"web"}}});
    one.namespace_selector.emplace().match_labels.push_back(
        {many.symbol("team"), many.symbol("t" + std::to_string(i))});
    add_term(many, Role::kRequiredAnti, std::move(one));
  }
  place(many.on("n"));
  const LabelSet labels({{world.symbol("team"), world.symbol("t7")}});
  const Ref<const Pod> incoming = world.pod("p").label("app", "web").in("other");
  EXPECT_EQ(pods.required_anti_affinity(*incoming, labels).size(), 1U);
}

}  // namespace
}  // namespace berth
