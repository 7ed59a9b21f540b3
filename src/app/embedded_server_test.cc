#include "app/embedded_server.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "base/file.h"
#include "memapi/json_edit.h"

namespace berth::app {
namespace {

using ::testing::TempDir;

TEST(EmbeddedServer, AddressesToListenOn) {
  const struct {
    std::string text, address;
    int port;
  } good[] = {{"127.0.0.1:8001", "127.0.0.1", 8001},
              {"[::1]:0", "::1", 0},
              {":80", "", 80},
              {"localhost:1", "127.0.0.1", 1},
              {"0.0.0.0:65535", "0.0.0.0", 65535}};
  for (const auto& row : good) {
    const Result<ListenAddress> parsed = parse_listen_address(row.text);
    ASSERT_TRUE(parsed) << row.text;
    EXPECT_EQ(parsed->address, row.address);
    EXPECT_EQ(parsed->port, row.port);
  }
  for (const std::string text : {"", "8001", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "::1:80",
                                 "127.0.0.1:65536", "127.0.0.1:-1"})
    EXPECT_FALSE(parse_listen_address(text)) << text;
  EXPECT_EQ(parse_listen_address("x").error().message,
            "\"x\" is not an address to listen on (ADDR:PORT)");
}

TEST(EmbeddedServer, OnlyThisMachineReachesLoopback) {
  for (const std::string address : {"127.0.0.1", "127.8.8.8", "::1"})
    EXPECT_TRUE(is_loopback(address)) << address;
  for (const std::string address : {"", "0.0.0.0", "::", "10.0.0.1", "1270.0.0.1"})
    EXPECT_FALSE(is_loopback(address)) << address;
}

struct EmbeddedServerTest : ::testing::Test {
  EmbeddedServerTest() {
    folder = TempDir() + "/embedded-server-" +
             ::testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    options.listen = "127.0.0.1:0";
    options.controllers = {"*"};
  }
  ~EmbeddedServerTest() override { std::filesystem::remove_all(folder); }

  std::string problem() {
    const auto started = EmbeddedServer::start(loop, options);
    return started ? "" : started.error().message;
  }

  RealLoop loop;  // nobody runs it: only who starts and stops is looked at
  std::string folder;
  EmbeddedServerOptions options;
};

TEST_F(EmbeddedServerTest, WhatIsThereIsKeptFromOneRunToTheNext) {
  options.data = folder + "/data.json";
  JsonValue map = JsonValue::object();
  memapi::set_text(memapi::object_at(map, "metadata"), "name", "kept");
  memapi::set_text(memapi::object_at(map, "metadata"), "namespace", "default");
  const memapi::Resource& maps = memapi::resource_of("configmaps");
  std::uint64_t version = 0;
  {
    auto server = EmbeddedServer::start(loop, options).value();
    version = server->local().create(maps, map).value()->version;
    ASSERT_TRUE(server->stop());
  }
  auto server = EmbeddedServer::start(loop, options).value();
  const memapi::ObjectRef found = server->local().get(maps, "default", "kept");
  ASSERT_TRUE(found);
  // Versions go on: nobody sees an old one again.
  JsonValue another = map;
  memapi::set_text(memapi::object_at(another, "metadata"), "name", "new");
  EXPECT_GT(server->local().create(maps, another).value()->version, version);
}

TEST_F(EmbeddedServerTest, AKubeconfigSaysWhereItIs) {
  options.kubeconfig = folder + "/kubeconfig";
  auto server = EmbeddedServer::start(loop, options).value();
  const std::string text = berth::read_file(options.kubeconfig).value();
  EXPECT_TRUE(text.contains("server: " + server->url())) << text;
  EXPECT_TRUE(server->url().starts_with("http://127.0.0.1:"));
  std::ostringstream out;
  server->introduce(out);
  EXPECT_TRUE(out.str().contains("kubectl --kubeconfig " + options.kubeconfig + " get nodes"));
}

TEST_F(EmbeddedServerTest, BeyondThisMachineThereIsATokenAndTls) {
  options.listen = "0.0.0.0:0";
  options.kubeconfig = folder + "/kubeconfig";
  auto server = EmbeddedServer::start(loop, options).value();
  EXPECT_TRUE(server->url().starts_with("https://127.0.0.1:"));
  const std::string text = berth::read_file(options.kubeconfig).value();
  EXPECT_TRUE(text.contains("    token: \""));
  EXPECT_TRUE(text.contains("certificate-authority-data: "));
  const auto mode = std::filesystem::status(options.kubeconfig).permissions();
  EXPECT_EQ(mode & std::filesystem::perms::others_read, std::filesystem::perms::none);
}

TEST_F(EmbeddedServerTest, ATokenOfYourOwn) {
  options.token_file = folder + "/token";
  options.kubeconfig = folder + "/kubeconfig";
  ASSERT_TRUE(write_file(options.token_file, "sesame\n"));
  auto server = EmbeddedServer::start(loop, options).value();
  EXPECT_TRUE(berth::read_file(options.kubeconfig).value().contains("token: \"sesame\""));
}

TEST_F(EmbeddedServerTest, WhatCannotBeIsSaidInOneSentence) {
  options.data = folder + "/data.json";
  ASSERT_TRUE(write_file(options.data, "{"));
  EXPECT_EQ(problem(), options.data + ": unexpected end of JSON input");
  options.data = folder;
  EXPECT_EQ(problem(), "read " + folder + ": is a directory");
  options.data.clear();

  options.token_file = folder + "/token";
  EXPECT_EQ(problem(), "open " + folder + "/token: no such file or directory");
  ASSERT_TRUE(write_file(options.token_file, "\n"));
  EXPECT_EQ(problem(), folder + "/token: no token in it");
  options.token_file.clear();

  options.controllers = {"nobody"};
  EXPECT_EQ(problem(), "\"nobody\" is not in the list of known controllers");
  options.controllers = {};

  const auto first = EmbeddedServer::start(loop, options).value();
  options.listen = first->url().substr(std::string("http://").size());
  EXPECT_EQ(problem(), "cannot listen on " + options.listen + ": Address already in use");
}

}  // namespace
}  // namespace berth::app
