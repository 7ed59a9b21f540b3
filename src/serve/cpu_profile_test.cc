#include "serve/cpu_profile.h"

#include <gtest/gtest.h>

#include <future>
#include <map>
#include <protozero/pbf_reader.hpp>

#include "base/file.h"
#include "serve/testing/served.h"

namespace berth::serve {
namespace {

// What pprof would read, as text.
struct ReadProfile {
  std::vector<std::string> texts;
  std::vector<std::string> samples;  // "1 2: 3 30000000"
  std::vector<std::string> mappings;
  std::map<std::uint64_t, std::string> locations;  // by id: "mapping address"
  std::int64_t duration = 0;
  std::int64_t period = 0;
};

ReadProfile read_profile(const std::string& message) {
  ReadProfile read;
  for (protozero::pbf_reader profile(message); profile.next();) {
    std::string line;
    const auto add = [&](std::uint64_t number) {
      line += (line.empty() || line.ends_with(' ') ? "" : " ") + std::to_string(number);
    };
    switch (profile.tag()) {
      case 2:
        for (protozero::pbf_reader sample = profile.get_message(); sample.next();) {
          if (sample.tag() == 1) {
            for (const std::uint64_t id : sample.get_packed_uint64()) add(id);
            line += ": ";
          } else {
            for (const std::int64_t value : sample.get_packed_int64())
              add(static_cast<std::uint64_t>(value));
          }
        }
        read.samples.push_back(line);
        break;
      case 3:
        for (protozero::pbf_reader mapping = profile.get_message(); mapping.next();)
          add(mapping.tag() == 5 ? static_cast<std::uint64_t>(mapping.get_int64())
                                 : mapping.get_uint64());
        read.mappings.push_back(line);
        break;
      case 4: {
        std::uint64_t id = 0;
        for (protozero::pbf_reader location = profile.get_message(); location.next();) {
          if (location.tag() == 1)
            id = location.get_uint64();
          else
            add(location.get_uint64());
        }
        read.locations[id] = line;
        break;
      }
      case 6: read.texts.push_back(profile.get_string()); break;
      case 10: read.duration = profile.get_int64(); break;
      case 12: read.period = profile.get_int64(); break;
      default: profile.skip();
    }
  }
  return read;
}

TEST(CpuProfile, IsWrittenAsPprofReadsIt) {
  constexpr std::string_view kMaps =
      "1000-2000 r-xp 00000400 08:01 77   /usr/bin/berth\n"
      "2000-3000 rw-p 00000000 08:01 77   /usr/bin/berth\n"
      "9000-a000 r-xp 00000000 00:00 0 \n"
      "nonsense\n";
  const ReadProfile profile = read_profile(
      encode_profile({{{0x1100, 0x1200}, 3}, {{0x9100, 0x1200}, 1}, {{0x7777}, 2}},
                     {WallTime{std::chrono::seconds(1)}, std::chrono::seconds(5)}, kMaps));
  EXPECT_EQ(profile.texts, (std::vector<std::string>{"", "samples", "count", "cpu", "nanoseconds",
                                                     "/usr/bin/berth"}));
  EXPECT_EQ(profile.samples,
            (std::vector<std::string>{"1 2: 3 30000000", "3 2: 1 10000000", "4: 2 20000000"}));
  EXPECT_EQ(profile.mappings,
            (std::vector<std::string>{"1 4096 8192 1024 5", "2 36864 40960 0 0"}));
  EXPECT_EQ(profile.locations, (std::map<std::uint64_t, std::string>{
                                   {1, "1 4352"}, {2, "1 4608"}, {3, "2 37120"}, {4, "30583"}}));
  EXPECT_EQ(profile.duration, 5'000'000'000);
  EXPECT_EQ(profile.period, 10'000'000);
}

TEST(CpuProfile, SeesWhoWorks) {
  auto profile = CpuProfile::start(WallTime{});
  ASSERT_TRUE(profile);
  const auto second = CpuProfile::start(WallTime{});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().message, "cpu profiling already in use");
  volatile std::uint64_t work = 0;
  while ((*profile)->samples() < 3) work = work + 1;
  std::uint64_t count = 0;
  for (const ProfiledStack& stack : (*profile)->stop()) {
    EXPECT_FALSE(stack.addresses.empty());
    count += stack.count;
  }
  EXPECT_GE(count, 3u);
  EXPECT_EQ((*profile)->samples(), 0u);
  EXPECT_TRUE(CpuProfile::start(WallTime{}));  // it is free again
}

TEST(CpuProfile, IsServedAfterItsTime) {
  std::promise<net::HttpResponse> answered;
  testing::Served served;
  served.start();
  served.ask({.path = "/debug/pprof/profile?seconds=2", .token = "admintoken"},
             [&](net::HttpResponse response) { answered.set_value(std::move(response)); });
  while (!served.loop.has_posted()) continue;  // the request arrives
  EXPECT_EQ(served.get("/debug/pprof/profile").body,
            "Could not enable CPU profiling: cpu profiling already in use\n");
  served.loop.run_until(served.loop.now() + std::chrono::seconds(2));
  const net::HttpResponse response = answered.get_future().get();
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(read_profile(response.body).duration, 2'000'000'000);
}

TEST(CpuProfile, EndsWithTheServer) {
  std::promise<int> answered;
  testing::Served served;
  served.start();
  served.ask({.path = "/debug/pprof/profile", .token = "admintoken"},
             [&](const net::HttpResponse& response) { answered.set_value(response.status); });
  while (!served.loop.has_posted()) continue;  // the request arrives
  served.server.reset();
  EXPECT_EQ(answered.get_future().get(), 503);
  EXPECT_TRUE(CpuProfile::start(WallTime{}));
}

}  // namespace
}  // namespace berth::serve
