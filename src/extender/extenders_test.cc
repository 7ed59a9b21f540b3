// Against real sockets: servers that are slow, fail, lie, talk too much or show the wrong papers.
#include "extender/extenders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/testing/builders.h"
#include "base/file.h"
#include "base/testing/names.h"
#include "base/thread.h"
#include "berth/task.h"
#include "extender/transport.h"
#include "net/http_server.h"
#include "net/testing/loopback.h"

namespace berth::extender {
namespace {

using net::testing::certificates;

class ExtendersTest : public ::testing::Test {
 protected:
  ExtendersTest() {
    config.filter_verb = "filter";
    config.bind_verb = "bind";
    config.node_cache_capable = true;
    config.http_timeout = seconds(60);
  }

  // What the extender answers to everything.
  void serve(net::HttpHandler handler, std::optional<net::TlsServerSettings> tls = std::nullopt) {
    net::HttpServerOptions options;
    options.tls = std::move(tls);
    const std::string scheme = options.tls ? "https" : "http";
    server = net::testing::start(std::move(options), std::move(handler));
    config.url_prefix = net::testing::url(*server, "/x", scheme);
  }
  void serve(std::string body, std::optional<net::TlsServerSettings> tls = std::nullopt) {
    serve(
        [body](const net::HttpRequest&, const std::shared_ptr<net::HttpResponder>& responder) {
          net::HttpResponse response;
          response.body = body;
          responder->respond(std::move(response));
        },
        std::move(tls));
  }

  Result<ExtenderVerdicts> filter(std::vector<std::string> nodes = {"n1"}) {
    Result<std::unique_ptr<Extenders>> made =
        Extenders::make(std::vector<config::ExtenderConfig>{config}, loop);
    if (!made) return fail(made.error());
    (*made)->objects().apply({DeltaType::kAdded, pod},
                             std::make_shared<const std::string>(R"({"metadata":{}})"));
    return run((*made)->all().front()->filter(pod, std::move(nodes)));
  }
  std::string why() {
    const Result<ExtenderVerdicts> verdicts = filter();
    return verdicts ? "it answered" : verdicts.error().message;
  }

  template <typename T>
  Result<T> run(Task<Result<T>> task) {
    std::optional<Result<T>> out;
    TaskSet tasks;
    loop.post([&] { tasks.spawn(collect(std::move(task), out)); });
    loop.run();
    return std::move(*out);
  }
  template <typename T>
  Task<void> collect(Task<Result<T>> task, std::optional<Result<T>>& out) {
    Result<T> result = co_await task;
    out.emplace(std::move(result));
    loop.stop();
  }

  RealLoop loop;
  World world;
  const Ref<const Pod> pod = world.pod("web").uid("u-web");
  config::ExtenderConfig config;
  std::unique_ptr<net::HttpServer> server;
};

TEST_F(ExtendersTest, AskOverHttp) {
  std::string seen;
  serve([&](const net::HttpRequest& request, const std::shared_ptr<net::HttpResponder>& responder) {
    seen = request.method + " " + request.target + " " +
           std::string(request.headers.find("Content-Type").value_or("")) + " " + request.body;
    net::HttpResponse response;
    response.body = R"({"NodeNames":["n2"]})";
    responder->respond(std::move(response));
  });
  const Result<ExtenderVerdicts> verdicts = filter({"n1", "n2"});
  ASSERT_TRUE(verdicts) << verdicts.error().message;
  EXPECT_THAT(verdicts->nodes, ElementsAre("n2"));
  EXPECT_EQ(seen, R"(POST /x/filter application/json {"Pod":{"metadata":{}},"Nodes":null,)"
                  R"("NodeNames":["n1","n2"]})");
}

TEST_F(ExtendersTest, OneThatDoesNotAnswerIsGivenUp) {
  Mutex mutex;
  std::vector<std::shared_ptr<net::HttpResponder>> kept;
  serve([&](const net::HttpRequest&, std::shared_ptr<net::HttpResponder> responder) {
    const MutexLock lock(mutex);
    kept.push_back(std::move(responder));
  });
  config.http_timeout = milliseconds(50);
  EXPECT_EQ(why(), "Post \"" + config.url_prefix +
                       "/filter\": context deadline exceeded (Client.Timeout exceeded while "
                       "awaiting headers)");
  // One that begins to answer and then falls silent, as well.
  serve([&](const net::HttpRequest&, std::shared_ptr<net::HttpResponder> responder) {
    responder->begin(200, {});
    responder->write("{\"NodeNames\":[");
    const MutexLock lock(mutex);
    kept.push_back(std::move(responder));
  });
  EXPECT_THAT(why(), HasSubstr("context deadline exceeded"));
  server.reset();
}

TEST_F(ExtendersTest, OneThatIsNotThere) {
  serve("");
  server.reset();
  EXPECT_THAT(why(), AllOf(StartsWith("Post \"" + config.url_prefix + "/filter\": dial tcp 127."),
                           HasSubstr("connect: connection refused")));
}

TEST_F(ExtendersTest, OneThatFails) {
  serve([](const net::HttpRequest&, const std::shared_ptr<net::HttpResponder>& responder) {
    net::HttpResponse response;
    response.status = 503;
    response.body = R"({"NodeNames":["n1"]})";
    responder->respond(std::move(response));
  });
  EXPECT_EQ(why(), "failed filter with extender at URL " + config.url_prefix + "/filter, code 503");
}

TEST_F(ExtendersTest, OneThatTalksNonsense) {
  serve("<html><body>It works!</body></html>");
  EXPECT_EQ(why(), "invalid character '<' looking for beginning of value");
  serve("");
  EXPECT_EQ(why(), "EOF");
  serve(std::string(1 << 20, '['));
  EXPECT_NE(why(), "it answered");
  serve("{\"NodeNames\":[\"\xff\xfe\"]}");
  EXPECT_THAT(filter().value_or(ExtenderVerdicts{}).nodes, ::testing::Not(ElementsAre("n1")));
}

TEST_F(ExtendersTest, OneThatTalksTooMuch) {
  // More than is read of it, less than the server would cut it for.
  serve(std::string(4 << 20, ' '));
  const std::unique_ptr<ExtenderTransport> transport = make_http_transport(loop, {}, 1 << 20);
  const auto answer = run(transport->post(config.url_prefix + "/filter", "{}", {}, {}));
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, HasSubstr("the answer is larger than 1048576 bytes"));
}

TEST_F(ExtendersTest, AManyNodedAnswerIsReadWhole) {
  std::string body = R"({"Nodes":{"metadata":{},"items":[)";
  constexpr std::size_t kNodes = 5000;
  for (std::size_t i = 0; i < kNodes; ++i)
    body += (i ? ",{" : "{") + std::string(R"("metadata":{"name":"node-)") + std::to_string(i) +
            R"("},"status":{"images":[{"names":[")" + std::string(500, 'i') + "\"]}]}}";
  body += "]}}";
  serve(body);
  const Result<ExtenderVerdicts> verdicts = filter();
  ASSERT_TRUE(verdicts) << verdicts.error().message;
  ASSERT_EQ(verdicts->nodes.size(), kNodes);
  EXPECT_EQ(verdicts->nodes.back(), "node-4999");
}

// ---- TLS

constexpr const char* kFine = R"({"NodeNames":["n1"]})";

TEST_F(ExtendersTest, ServersAreVerified) {
  serve(kFine, net::testing::server_tls());
  EXPECT_THAT(why(), HasSubstr("x509: certificate signed by unknown authority"));
  config.tls.emplace();
  config.tls->ca_data = certificates().authority.certificate_pem;
  EXPECT_EQ(why(), "it answered");
  config.tls->ca_data = certificates().other_authority.certificate_pem;
  EXPECT_THAT(why(), HasSubstr("x509: certificate signed by unknown authority"));
  config.tls->ca_data = certificates().authority.certificate_pem;
  config.tls->server_name = "somebody.else";
  EXPECT_THAT(why(), HasSubstr("x509: certificate is not valid for somebody.else"));
  config.tls->server_name = "localhost";
  EXPECT_EQ(why(), "it answered");
}

TEST_F(ExtendersTest, ServersAreBelievedWhereTheConfigurationSaysSo) {
  serve(kFine, net::testing::server_tls());
  config.enable_https = true;  // without an authority
  EXPECT_EQ(why(), "it answered");
  config.enable_https = false;
  config.tls.emplace();
  config.tls->insecure = true;
  EXPECT_EQ(why(), "it answered");
}

TEST_F(ExtendersTest, ShowACertificateFromDataOrFiles) {
  std::string seen;
  net::TlsServerSettings tls = net::testing::server_tls();
  tls.client_authorities = {{"us", certificates().authority.certificate_pem}};
  serve(
      [&](const net::HttpRequest& request, const std::shared_ptr<net::HttpResponder>& responder) {
        seen = request.peer.common_name;
        net::HttpResponse response;
        response.body = kFine;
        responder->respond(std::move(response));
      },
      tls);
  config.tls.emplace();
  config.tls->ca_data = certificates().authority.certificate_pem;
  EXPECT_EQ(why(), "it answered");
  EXPECT_EQ(seen, "");
  config.tls->cert_data = certificates().client.certificate_pem;
  config.tls->key_data = certificates().client.key_pem;
  EXPECT_EQ(why(), "it answered");
  EXPECT_EQ(seen, "jane");

  const std::string folder = ::testing::TempDir();
  const auto file = [&](const std::string& name, const std::string& text) {
    const std::string path = folder + "/extenders_test_" + name;
    EXPECT_TRUE(write_file(path, text));
    return path;
  };
  config.tls.emplace();
  config.tls->ca_file = file("ca.pem", certificates().authority.certificate_pem);
  config.tls->cert_file = file("client.pem", certificates().client.certificate_pem);
  config.tls->key_file = file("client.key", certificates().client.key_pem);
  seen.clear();
  EXPECT_EQ(why(), "it answered");
  EXPECT_EQ(seen, "jane");
  for (const std::string* path :
       {&config.tls->ca_file, &config.tls->cert_file, &config.tls->key_file})
    std::remove(path->c_str());
  EXPECT_EQ(why(), "couldn't build extenders: open " + config.tls->ca_file +
                       ": no such file or directory");
}

TEST_F(ExtendersTest, WhatCannotWorkIsRefusedAtOnce) {
  config.url_prefix = "https://127.0.0.1:1";
  config.tls.emplace();
  config.tls->insecure = true;
  config.tls->ca_data = certificates().authority.certificate_pem;
  EXPECT_EQ(why(),
            "couldn't build extenders: specifying a root certificates file with the insecure flag "
            "is not allowed");
  config.tls->insecure = false;
  config.tls->ca_data = "no certificate";
  EXPECT_THAT(why(), StartsWith("couldn't build extenders: unable to load root certificates: "));
  config.tls.emplace();
  config.tls->cert_data = certificates().client.certificate_pem;
  config.tls->key_data = certificates().authority.key_pem;
  EXPECT_THAT(why(), StartsWith("couldn't build extenders: "));
  // Half a pair proves nothing: upstream does not show it.
  config.tls->key_data.clear();
  const Result<net::TlsClientSettings> settings = tls_settings(config);
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_EQ(settings->certificate_pem, "");
}

TEST_F(ExtendersTest, AreAllThatAreConfiguredInThatOrder) {
  config::ExtenderConfig first = config, second = config;
  first.url_prefix = "http://a";
  first.ignorable = true;
  second.url_prefix = "http://b";
  second.node_cache_capable = false;
  const auto made =
      Extenders::make(std::vector<config::ExtenderConfig>{first, second}, loop).value();
  const std::vector<Extender*> all = made->all();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0]->name(), "http://a");
  EXPECT_EQ(all[1]->name(), "http://b");
  EXPECT_TRUE(made->objects().needs().nodes);
  EXPECT_FALSE(Extenders::make({}, loop).value()->objects().needs().any());
}

}  // namespace
}  // namespace berth::extender
