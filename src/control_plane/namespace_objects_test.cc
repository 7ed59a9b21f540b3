#include "control_plane/namespace_objects.h"

#include <gtest/gtest.h>

#include "control_plane/testing/small_cluster.h"

namespace berth::control_plane::testing {
namespace {

const std::string kAccounts = "/api/v1/namespaces/default/serviceaccounts";
const std::string kRoot = "/api/v1/namespaces/default/configmaps/kube-root-ca.crt";

TEST(NamespaceObjects, EveryNamespaceHasAServiceAccountAndTheRootCertificate) {
  SmallCluster cluster;
  cluster.post("/api/v1/namespaces", R"({"metadata":{"name":"n"}})");
  for (const std::string space : {"default", "kube-system", "n"}) {
    cluster.get("/api/v1/namespaces/" + space + "/serviceaccounts/default");
    EXPECT_EQ(cluster.code, 200) << space;
    const JsonValue map =
        cluster.get("/api/v1/namespaces/" + space + "/configmaps/kube-root-ca.crt");
    EXPECT_EQ(cluster.code, 200) << space;
    const JsonValue* data = at(map, "data");
    ASSERT_NE(data, nullptr);
    EXPECT_NE(data->find("ca.crt"), nullptr);
  }
}

TEST(NamespaceObjects, WhoRemovesOrChangesThemGetsThemBack) {
  SmallCluster cluster;
  cluster.remove(kAccounts + "/default");
  cluster.get(kAccounts + "/default");
  EXPECT_EQ(cluster.code, 200);
  cluster.merge(kRoot, R"({"data":{"ca.crt":"mine","more":"1"}})");
  const JsonValue map = cluster.get(kRoot);
  EXPECT_EQ(at(map, "data")->members.size(), 1u);
  EXPECT_EQ(at(map, "data")->find("ca.crt")->text, "");
}

TEST(NamespaceObjects, ANamespaceThatGoesIsLetGo) {
  SmallCluster cluster;
  cluster.post("/api/v1/namespaces", R"({"metadata":{"name":"n"}})");
  cluster.remove("/api/v1/namespaces/n");
  cluster.get("/api/v1/namespaces/n");
  EXPECT_EQ(cluster.code, 404);
}

}  // namespace
}  // namespace berth::control_plane::testing
