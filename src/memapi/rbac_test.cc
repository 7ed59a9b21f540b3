// Who may do what with --authorization-mode=RBAC. Texts as kube-apiserver gives them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "memapi/testing/client.h"

namespace berth::memapi::testing {
namespace {

using ::testing::HasSubstr;

const std::string kRbac = "/apis/rbac.authorization.k8s.io/v1";
const std::string kRoles = kRbac + "/namespaces/default/roles";
const std::string kBindings = kRbac + "/namespaces/default/rolebindings";
const std::string kAccess = "/apis/authorization.k8s.io/v1/";

ApiServerOptions rbac_options() {
  ApiServerOptions options;
  options.token = "secret";
  options.token_key = "a key";
  options.authorization = Authorization::kRbac;
  return options;
}

// The administrator has the token; others come with certificates, or as whom they say they are.
struct RbacTest : public ::testing::Test {
  JsonValue ask(net::HttpHeaders headers, net::HttpPeer peer, std::string method,
                std::string target, std::string body = "",
                const std::string& type = "application/json") {
    net::HttpRequest request;
    request.method = std::move(method);
    request.target = std::move(target);
    request.body = std::move(body);
    request.headers = std::move(headers);
    request.headers.add("Content-Type", type);
    request.peer = std::move(peer);
    auto recorder = std::make_shared<Recorder>();
    client.server.handle(std::move(request), recorder);
    client.loop_posted();
    code = recorder->response.status;
    return parse_json(recorder->response.body).value_or(JsonValue());
  }
  JsonValue admin(std::string method, std::string target, std::string body = "",
                  const std::string& type = "application/json") {
    return ask({{"Authorization", "Bearer secret"}}, {}, std::move(method), std::move(target),
               std::move(body), type);
  }
  // A user with a certificate.
  JsonValue as(const std::string& user, std::string method, std::string target,
               std::string body = "") {
    net::HttpPeer peer;
    peer.tls = true;
    peer.common_name = user;
    peer.organizations = {"team"};
    peer.verified_by = {"client"};
    return ask({}, peer, std::move(method), std::move(target), std::move(body));
  }
  std::string why(const std::string& user, std::string method, std::string target,
                  std::string body = "") {
    const JsonValue answer = as(user, std::move(method), std::move(target), std::move(body));
    return code == 403 ? std::string(text_at(answer, "message")) : "allowed";
  }
  void allow(const std::string& name, const std::string& rules, const std::string& subject) {
    admin("POST", kRoles, R"({"metadata":{"name":")" + name + R"("},"rules":)" + rules + "}");
    EXPECT_EQ(code, 201);
    admin("POST", kBindings,
          R"({"metadata":{"name":")" + name + R"("},"roleRef":{"kind":"Role","name":")" + name +
              R"("},"subjects":[)" + subject + "]}");
    EXPECT_EQ(code, 201);
  }

  Client client{rbac_options()};
  int code = 0;
};

TEST_F(RbacTest, SaysWhoMayNotDoWhat) {
  struct Case {
    const char* method;
    const char* target;
    const char* message;
  };
  for (const Case& one : {
           Case{
               "GET", "/api/v1/pods",
               "pods is forbidden: User \"bob\" cannot list resource \"pods\" in API group \"\" at "
               "the cluster scope"},
           Case{"GET", "/api/v1/namespaces/default/pods/x",
                "pods \"x\" is forbidden: User \"bob\" cannot get resource \"pods\" in API group "
                "\"\" in the namespace \"default\""},
           Case{"GET", "/api/v1/namespaces/default",
                "namespaces \"default\" is forbidden: User \"bob\" cannot get resource "
                "\"namespaces\" in API group \"\" in the namespace \"default\""},
           Case{"GET", "/api/v1/namespaces/default/pods?watch=1",
                "pods is forbidden: User \"bob\" cannot watch resource \"pods\" in API group \"\" "
                "in the namespace \"default\""},
           Case{"DELETE", "/apis/apps/v1/namespaces/default/deployments",
                "deployments.apps is forbidden: User \"bob\" cannot deletecollection resource "
                "\"deployments\" in API group \"apps\" in the namespace \"default\""},
           Case{"GET", "/apis/foo/v1/bars",
                "bars.foo is forbidden: User \"bob\" cannot list resource \"bars\" in API group "
                "\"foo\" at the cluster scope"},
           Case{"GET", "/api/v1/namespaces/default/pods/x/log",
                "pods \"x\" is forbidden: User \"bob\" cannot get resource \"pods/log\" in API "
                "group \"\" in the namespace \"default\""},
           Case{"GET", "/metrics", "forbidden: User \"bob\" cannot get path \"/metrics\""},
           Case{"GET", "/apis", "allowed"},
       })
    EXPECT_EQ(why("bob", one.method, one.target), one.message) << one.target;
  admin("GET", "/api/v1/pods");
  EXPECT_EQ(code, 200);
}

TEST_F(RbacTest, KnowsNobodyAndRefusesWrongTokens) {
  const JsonValue answer = ask({}, {}, "GET", "/api/v1/pods");
  EXPECT_EQ(code, 403);
  EXPECT_THAT(std::string(text_at(answer, "message")), HasSubstr("User \"system:anonymous\""));
  ask({{"Authorization", "Bearer wrong"}}, {}, "GET", "/api/v1/pods");
  EXPECT_EQ(code, 401);
}

TEST_F(RbacTest, RolesAllowUsersGroupsAndAccounts) {
  allow("read",
        R"([{"apiGroups":[""],"resources":["pods","*/scale"],"verbs":["get","list"]},)"
        R"({"apiGroups":[""],"resources":["configmaps"],"resourceNames":["a"],)"
        R"("verbs":["*"]}])",
        R"({"kind":"User","name":"bob"},{"kind":"ServiceAccount","name":"robot"})");
  const std::string space = "/api/v1/namespaces/default/";
  EXPECT_EQ(why("bob", "GET", space + "pods"), "allowed");
  EXPECT_EQ(why("bob", "GET", space + "configmaps/a"), "allowed");
  EXPECT_EQ(why("bob", "GET", space + "configmaps?fieldSelector=metadata.name=a"), "allowed");
  EXPECT_NE(why("bob", "GET", space + "configmaps/b"), "allowed");
  EXPECT_NE(why("bob", "GET", "/api/v1/pods"), "allowed");
  EXPECT_NE(why("eve", "GET", space + "pods"), "allowed");
  admin("POST", space + "serviceaccounts", R"({"metadata":{"name":"robot"}})");
  const JsonValue token = admin("POST", space + "serviceaccounts/robot/token", R"({"spec":{}})");
  ask({{"Authorization", "Bearer " + std::string(text_at(token, "status.token"))}}, {}, "GET",
      space + "pods");
  EXPECT_EQ(code, 200);

  admin("POST", kBindings,
        R"({"metadata":{"name":"t"},"roleRef":{"kind":"ClusterRole","name":"cluster-admin"},)"
        R"("subjects":[{"kind":"Group","name":"team"}]})");
  EXPECT_EQ(why("eve", "GET", space + "secrets"), "allowed");
  admin("DELETE", kBindings + "/t");
  EXPECT_NE(why("eve", "GET", space + "secrets"), "allowed");
}

TEST_F(RbacTest, NamesRolesThatAreNotThere) {
  admin("POST", kBindings,
        R"({"metadata":{"name":"b"},"roleRef":{"kind":"Role","name":"gone"},)"
        R"("subjects":[{"kind":"User","name":"bob"}]})");
  EXPECT_THAT(why("bob", "GET", "/api/v1/namespaces/default/pods"),
              HasSubstr(": RBAC: role.rbac.authorization.k8s.io \"gone\" not found"));
}

TEST_F(RbacTest, NobodyGivesWhatHeDoesNotHave) {
  allow("make",
        R"([{"apiGroups":["rbac.authorization.k8s.io"],"resources":["roles",)"
        R"("rolebindings"],"verbs":["create","get","update"]},)"
        R"({"apiGroups":[""],"resources":["pods"],"verbs":["get"]}])",
        R"({"kind":"User","name":"bob"})");
  EXPECT_EQ(why("bob", "POST", kRoles,
                R"({"metadata":{"name":"r"},"rules":[{"apiGroups":["","apps"],)"
                R"("resources":["pods"],"verbs":["get","list"]}]})"),
            "roles.rbac.authorization.k8s.io \"r\" is forbidden: user \"bob\" (groups=[\"team\" "
            "\"system:authenticated\"]) is attempting to grant RBAC permissions not currently "
            "held:\n{APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"list\"]}\n"
            "{APIGroups:[\"apps\"], Resources:[\"pods\"], Verbs:[\"get\" \"list\"]}");
  EXPECT_EQ(why("bob", "POST", kRoles,
                R"({"metadata":{"name":"r"},"rules":[{"apiGroups":[""],"resources":["pods"],)"
                R"("resourceNames":["a"],"verbs":["get"]}]})"),
            "allowed");
  EXPECT_THAT(why("bob", "POST", kBindings,
                  R"({"metadata":{"name":"r"},"roleRef":{"kind":"ClusterRole",)"
                  R"("name":"cluster-admin"},"subjects":[{"kind":"User","name":"bob"}]})"),
              HasSubstr("not currently held:\n{APIGroups:[\"*\"], Resources:[\"*\"]"));
}

TEST_F(RbacTest, AnswersReviews) {
  const auto review = [&](const std::string& kind, const std::string& spec) {
    return admin("POST", kAccess + kind, R"({"spec":)" + spec + "}");
  };
  JsonValue answer =
      review("subjectaccessreviews", R"({"user":"system:kube-scheduler","resourceAttributes":)"
                                     R"({"verb":"list","resource":"pods"}})");
  EXPECT_TRUE(true_at(answer, "status.allowed"));
  EXPECT_EQ(text_at(answer, "status.reason"),
            "RBAC: allowed by ClusterRoleBinding \"system:kube-scheduler\" of ClusterRole "
            "\"system:kube-scheduler\" to User \"system:kube-scheduler\"");
  answer = review("subjectaccessreviews",
                  R"({"user":"bob","resourceAttributes":{"verb":"list","resource":"pods"}})");
  EXPECT_FALSE(true_at(answer, "status.allowed"));
  EXPECT_NE(at(answer, "status.allowed"), nullptr);
  answer = review("subjectaccessreviews", R"({"resourceAttributes":{"verb":"list"}})");
  EXPECT_EQ(code, 422);
  EXPECT_EQ(text_at(answer, "message"),
            ".authorization.k8s.io \"\" is invalid: spec.user: Invalid value: \"\": at least one "
            "of user or group must be specified");
  answer = as("bob", "POST", kAccess + "selfsubjectaccessreviews",
              R"({"spec":{"nonResourceAttributes":{"verb":"get","path":"/version"}}})");
  EXPECT_TRUE(true_at(answer, "status.allowed"));
  answer =
      as("bob", "POST", kAccess + "selfsubjectrulesreviews", R"({"spec":{"namespace":"default"}})");
  ASSERT_FALSE(items_at(answer, "status.resourceRules").empty());
  EXPECT_EQ(items_at(items_at(answer, "status.resourceRules")[0], "verbs")[0].text, "create");
  review("selfsubjectrulesreviews", "{}");
  EXPECT_EQ(code, 400);
}

TEST_F(RbacTest, SomeMayActForOthers) {
  const auto as_bob = [&](const std::string& token) {
    return ask({{"Authorization", "Bearer " + token}, {"Impersonate-User", "bob"}}, {}, "GET",
               "/api/v1/pods");
  };
  EXPECT_THAT(std::string(text_at(as_bob("secret"), "message")),
              HasSubstr("User \"bob\" cannot list resource \"pods\""));
  net::HttpPeer peer;
  peer.common_name = "eve";
  peer.verified_by = {"client"};
  const JsonValue answer = ask({{"Impersonate-User", "bob"}}, peer, "GET", "/api/v1/pods");
  EXPECT_EQ(text_at(answer, "message"),
            "users \"bob\" is forbidden: User \"eve\" cannot impersonate resource \"users\" in API "
            "group \"\" at the cluster scope");
  ask({{"Authorization", "Bearer secret"}, {"Impersonate-Group", "g"}}, {}, "GET", "/api/v1/pods");
  EXPECT_EQ(code, 400);
}

TEST_F(RbacTest, RefusesRolesThatSayNothing) {
  const auto wrong = [&](const std::string& target, const std::string& object) {
    return std::string(text_at(admin("POST", target, object), "message"));
  };
  EXPECT_EQ(wrong(kRoles, R"({"metadata":{"name":"v"},"rules":[{}]})"),
            "Role.rbac.authorization.k8s.io \"v\" is invalid: [rules[0].apiGroups: Required value: "
            "resource rules must supply at least one api group, rules[0].resources: Required "
            "value: resource rules must supply at least one resource, rules[0].verbs: Required "
            "value]");
  EXPECT_EQ(wrong(kRoles, R"({"metadata":{"name":"v"},"rules":[{"verbs":["get"],)"
                          R"("nonResourceURLs":["/x"]}]})"),
            "Role.rbac.authorization.k8s.io \"v\" is invalid: rules[0].nonResourceURLs: Invalid "
            "value: [\"/x\"]: namespaced rules cannot apply to non-resource URLs");
  EXPECT_EQ(wrong(kRbac + "/clusterroles", R"({"metadata":{"name":"a/b"},"rules":[]})"),
            "ClusterRole.rbac.authorization.k8s.io \"a/b\" is invalid: metadata.name: Invalid "
            "value: \"a/b\": may not contain '/'");
  EXPECT_EQ(
      wrong(kBindings, R"({"metadata":{"name":"v"},"roleRef":{"kind":"X","name":""},"subjects":[)"
                       R"({"kind":"User"},{"kind":"ServiceAccount","name":"x"},)"
                       R"({"kind":"Y","name":"y"},{"kind":"Group","name":"g","apiGroup":"z"}]})"),
      "RoleBinding.rbac.authorization.k8s.io \"v\" is invalid: [roleRef.kind: Unsupported "
      "value: \"X\": supported values: \"Role\", \"ClusterRole\", subjects[2].kind: "
      "Unsupported value: \"Y\": supported values: \"ServiceAccount\", \"User\", \"Group\", "
      "subjects[3].apiGroup: Unsupported value: \"z\": supported values: "
      "\"rbac.authorization.k8s.io\", subjects[0].name: Required value, roleRef.name: "
      "Required value]");
  allow("r", "[]", R"({"kind":"User","name":"bob"})");
  const JsonValue answer =
      admin("PATCH", kBindings + "/r", R"({"roleRef":{"name":"other"}})", kMergePatch);
  EXPECT_EQ(text_at(answer, "message"),
            "RoleBinding.rbac.authorization.k8s.io \"r\" is invalid: roleRef: Invalid value: "
            "{\"APIGroup\":\"rbac.authorization.k8s.io\",\"Kind\":\"Role\",\"Name\":\"other\"}: "
            "field is immutable");
}

}  // namespace
}  // namespace berth::memapi::testing
