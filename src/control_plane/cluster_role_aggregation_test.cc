#include <gtest/gtest.h>

#include "control_plane/testing/small_cluster.h"

namespace berth::control_plane::testing {
namespace {

const std::string kRoles = "/apis/rbac.authorization.k8s.io/v1/clusterroles";

std::string role_json(const std::string& name, const std::string& rest) {
  return R"({"metadata":{"name":")" + name + R"(","labels":{"to":")" + name.substr(0, 1) +
         R"("}},)" + rest + "}";
}

TEST(ClusterRoleAggregation, GivesARoleTheRulesOfOthers) {
  SmallCluster cluster;
  const auto rules_of = [&](const std::string& name) {
    return items_at(cluster.get(kRoles + "/" + name), "rules").size();
  };
  const std::string rule = R"("rules":[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}])";
  const std::string other = R"("rules":[{"apiGroups":[""],"resources":["nodes"],"verbs":["get"]}])";
  cluster.post(kRoles, role_json("all", R"("aggregationRule":{"clusterRoleSelectors":[)"
                                        R"({"matchLabels":{"to":"x"}}]})"));
  EXPECT_EQ(rules_of("all"), 0u);
  cluster.post(kRoles, role_json("x1", rule));
  cluster.post(kRoles, role_json("x2", rule));
  cluster.post(kRoles, role_json("x3", other));
  cluster.post(kRoles, role_json("y1", R"("rules":[{"apiGroups":[""],"resources":["secrets"],)"
                                       R"("verbs":["get"]}])"));
  EXPECT_EQ(rules_of("all"), 2u);
  cluster.remove(kRoles + "/x3");
  EXPECT_EQ(rules_of("all"), 1u);
}

}  // namespace
}  // namespace berth::control_plane::testing
