#include "api/envelope.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/api_status.h"
#include "api/testing/golden.h"
#include "api/testing/protobuf.h"
#include "base/testing/names.h"

namespace berth {
namespace {

constexpr std::size_t kLimit = 1 << 20;

TEST(Envelope, OpensAndSealsAsUpstreamDoes) {
  const std::string& bytes = golden("Node", "node-7").proto;
  const auto envelope = open_envelope(bytes);
  ASSERT_TRUE(envelope);
  EXPECT_EQ(envelope->api_version, "v1");
  EXPECT_EQ(envelope->kind, "Node");
  EXPECT_EQ(envelope->content_type, "");
  EXPECT_EQ(seal_envelope("v1", "Node", envelope->object), bytes);
  EXPECT_EQ(open_envelope("{}").error().message, "not a protobuf object: the magic is missing");
}

// ---- lists --------------------------------------------------------------------------------------

struct ReadList {
  std::vector<std::string> names;
  bool complete = false;
  std::string error;
  ListMeta meta;
  std::string kind;
};

ReadList read_list(std::string_view bytes, std::size_t piece, std::size_t limit = kLimit) {
  ProtoListReader reader(limit);
  ReadList out;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    reader.add(bytes.substr(at, piece));
    while (const auto item = reader.next())
      out.names.push_back(read_object_header_proto(*item).value().name);
  }
  out.complete = reader.complete();
  out.error = reader.error() ? reader.error()->message : "";
  out.meta = reader.meta();
  out.kind = reader.kind();
  return out;
}

TEST(ProtoListReader, GivesItemsOneByOneHoweverTheBytesCome) {
  const std::string& bytes = golden("PodList", "p1").proto;
  for (std::size_t piece = 1; piece <= bytes.size(); ++piece) {
    const ReadList list = read_list(bytes, piece);
    EXPECT_THAT(list.names, ElementsAre("p1", "p2", "p3"));
    EXPECT_TRUE(list.complete);
    EXPECT_EQ(list.kind, "PodList");
    EXPECT_EQ(list.meta.resource_version, "1234");
    EXPECT_EQ(list.meta.continue_token, "token");
    EXPECT_EQ(list.meta.remaining_items, 17);
  }
}

TEST(ProtoListReader, AnItemIsThereAsSoonAsItsBytesAre) {
  const std::string& bytes = golden("PodList", "p1").proto;
  ProtoListReader reader(kLimit);
  reader.add(std::string_view(bytes).substr(0, bytes.find("p2")));
  EXPECT_TRUE(reader.next());
  EXPECT_FALSE(reader.next());
  EXPECT_FALSE(reader.error());
  EXPECT_FALSE(reader.complete());
}

TEST(ProtoListReader, AListOfItsItemsIsTheListAgain) {
  const std::string& bytes = golden("PodList", "p1").proto;
  ProtoListReader reader(kLimit);
  reader.add(bytes);
  std::vector<std::string> items;
  while (const auto item = reader.next()) items.emplace_back(*item);
  EXPECT_EQ(seal_envelope("v1", "PodList", list_message(reader.meta(), items)), bytes);
}

TEST(ProtoListReader, AListOfNothing) {
  const ReadList list = read_list(seal_envelope("v1", "PodList", ""), 1);
  EXPECT_TRUE(list.complete);
  EXPECT_THAT(list.names, ElementsAre());
}

TEST(ProtoListReader, WhatWasCutOffIsNotComplete) {
  const std::string& bytes = golden("PodList", "p1").proto;
  // The last two fields of an envelope are empty: without them nothing is missing.
  for (std::size_t size = 0; size + 4 < bytes.size(); ++size)
    EXPECT_FALSE(read_list(std::string_view(bytes).substr(0, size), size + 1).complete) << size;
}

TEST(ProtoListReader, RefusesWhatIsNotAListOrTooLarge) {
  EXPECT_EQ(read_list("{\"items\":[]}", 3).error, "not a protobuf object: the magic is missing");
  const std::string& bytes = golden("PodList", "p1").proto;
  EXPECT_THAT(read_list(bytes, 16, 20).error, HasSubstr("is more than the limit of 20"));
  // An item that reaches beyond its list: {2: 0x7f bytes}
  EXPECT_EQ(read_list(seal_envelope("v1", "PodList", "\x12\x7f"), 1).error,
            "malformed protobuf: a field ends after its list");
  EXPECT_EQ(read_list(seal_envelope("v1", "PodList", "\x12"), 1).error,
            "malformed protobuf: a field ends after its list");
  EXPECT_EQ(read_list(seal_envelope("v1", "PodList", "\x13"), 1).error,
            "malformed protobuf: wire type 3");
}

// ---- watches ------------------------------------------------------------------------------------

TEST(WatchFrameReader, GivesFramesHoweverTheBytesCome) {
  const std::string& pod = golden("Pod", "plain").proto;
  const std::string stream = watch_frame({.type = "ADDED", .object = pod}) +
                             watch_frame({.type = "BOOKMARK", .object = ""}) +
                             watch_frame({.type = "DELETED", .object = pod});
  for (std::size_t piece = 1; piece <= stream.size(); ++piece) {
    WatchFrameReader reader(kLimit);
    std::vector<std::string> types;
    for (std::size_t at = 0; at < stream.size(); at += piece) {
      reader.add(std::string_view(stream).substr(at, piece));
      while (const auto frame = reader.next()) {
        const auto event = read_watch_event(*frame);
        ASSERT_TRUE(event);
        types.emplace_back(event->type);
        if (event->type != "BOOKMARK") {
          EXPECT_EQ(event->object, pod);
        }
      }
    }
    EXPECT_THAT(types, ElementsAre("ADDED", "BOOKMARK", "DELETED"));
    EXPECT_TRUE(reader.at_boundary());
  }
}

TEST(WatchFrameReader, KnowsWhetherTheStreamEndedWithinAFrame) {
  const std::string frame = watch_frame({.type = "ADDED", .object = "x"});
  for (std::size_t size = 1; size < frame.size(); ++size) {
    WatchFrameReader reader(kLimit);
    reader.add(std::string_view(frame).substr(0, size));
    EXPECT_FALSE(reader.next());
    EXPECT_FALSE(reader.at_boundary()) << size;
  }
}

TEST(WatchFrameReader, RefusesAFrameThatIsTooLargeBeforeItHasCome) {
  WatchFrameReader reader(100);
  reader.add(std::string_view("\x00\x00\x00\x65", 4));
  EXPECT_FALSE(reader.next());
  ASSERT_TRUE(reader.error());
  EXPECT_EQ(reader.error()->message, "a watch frame of 101 bytes is more than the limit of 100");
  reader.add("more");
  EXPECT_FALSE(reader.next());
  EXPECT_FALSE(reader.at_boundary());
}

TEST(WatchFrameReader, AnEmptyFrameIsAnEventOfNothing) {
  WatchFrameReader reader(100);
  reader.add(std::string_view("\x00\x00\x00\x00", 4));
  const auto frame = reader.next();
  ASSERT_TRUE(frame);
  EXPECT_EQ(read_watch_event(*frame).value().type, "");
}

TEST(WatchFrame, IsWhatUpstreamSends) {
  // WatchEvent{type: "ADDED", object: {raw: "x"}}, with its length.
  EXPECT_EQ(watch_frame({.type = "ADDED", .object = "x"}), testing::from_hex("0000000c"
                                                                             "0a054144444544"
                                                                             "12030a0178"));
}

}  // namespace
}  // namespace berth
