#include "memapi/service_account_tokens.h"

#include <gtest/gtest.h>

#include "memapi/testing/client.h"

namespace berth::memapi::testing {
namespace {

const std::string kAccounts = "/api/v1/namespaces/default/serviceaccounts";
const std::string kReviews = "/apis/authentication.k8s.io/v1/tokenreviews";

struct TokenClient : Client {
  TokenClient() : Client(options()) { ask("POST", kAccounts, R"({"metadata":{"name":"robot"}})"); }

  static ApiServerOptions options() {
    ApiServerOptions options;
    options.token_key = "a key";
    return options;
  }
  std::string token(const std::string& spec = "{}") {
    return std::string(text_at(ask("POST", kAccounts + "/robot/token", R"({"spec":)" + spec + "}"),
                               "status.token"));
  }
  JsonValue review(const std::string& token) {
    return ask("POST", kReviews, R"({"spec":{"token":")" + token + R"("}})");
  }
};

TEST(ServiceAccountTokens, ATokenSaysWhoseItIs) {
  TokenClient client;
  const std::string token = client.token();
  EXPECT_EQ(client.code, 201);
  const JsonValue review = client.review(token);
  EXPECT_TRUE(true_at(review, "status.authenticated"));
  EXPECT_EQ(text_at(review, "status.user.username"), "system:serviceaccount:default:robot");
  EXPECT_EQ(items_at(review, "status.user.groups")[1].text, "system:serviceaccounts:default");
}

TEST(ServiceAccountTokens, IsNoGoodWhenChangedOrLateOrWhenItsAccountIsGone) {
  TokenClient client;
  const std::string user = "system:serviceaccount:default:robot";
  std::string forged = client.token();
  forged[forged.size() / 2] = forged[forged.size() / 2] == 'A' ? 'B' : 'A';
  EXPECT_NE(text_at(client.review(forged), "status.user.username"), user);
  const std::string late = client.token(R"({"expirationSeconds":600})");
  client.loop.run_until(client.loop.now() + std::chrono::seconds(601));
  EXPECT_NE(text_at(client.review(late), "status.user.username"), user);
  const std::string orphan = client.token();
  EXPECT_EQ(text_at(client.review(orphan), "status.user.username"), user);
  client.ask("DELETE", kAccounts + "/robot");
  EXPECT_NE(text_at(client.review(orphan), "status.user.username"), user);
}

TEST(ServiceAccountTokens, LastsAtLeastTenMinutesAndNamesWhatThereIs) {
  TokenClient client;
  EXPECT_EQ(
      client.message("POST", kAccounts + "/robot/token", R"({"spec":{"expirationSeconds":5}})"),
      "TokenRequest.authentication.k8s.io \"\" is invalid: spec.expirationSeconds: Invalid "
      "value: 5: may not specify a duration less than 10 minutes");
  EXPECT_EQ(client.message("POST", kAccounts + "/robot/token",
                           R"({"spec":{"boundObjectRef":{"kind":"Pod","name":"p"}}})"),
            "pods \"p\" not found");
  EXPECT_EQ(client.message("POST", kAccounts + "/nobody/token", "{}"),
            "serviceaccounts \"nobody\" not found");
}

TEST(ServiceAccountTokens, OpensAServerThatAsksForTokens) {
  ApiServerOptions options = TokenClient::options();
  options.token = "secret";
  Client client(options);
  const auto get = [&](const std::string& token) {
    net::HttpRequest request;
    request.method = "GET";
    request.target = "/api/v1/pods";
    request.headers.add("Authorization", "Bearer " + token);
    auto recorder = std::make_shared<Recorder>();
    client.server.handle(std::move(request), recorder);
    return recorder->response.status;
  };
  EXPECT_EQ(get("secret"), 200);
  EXPECT_EQ(get("a.b.c"), 401);
}

}  // namespace
}  // namespace berth::memapi::testing
