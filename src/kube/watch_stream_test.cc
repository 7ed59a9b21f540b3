#include "kube/watch_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/written_pod.h"
#include "base/testing/names.h"
#include "berth/node.h"
#include "berth/pod.h"
#include "kube/json_stream.h"
#include "kube/testing/watch_words.h"

namespace berth::kube::testing {
namespace {

constexpr std::size_t kLimit = 1 << 16;
const StreamedKind kPodStream{ObjectKind::kPod, "v1", "Pod"};
const StreamedKind kNodeStream{ObjectKind::kNode, "v1", "Node"};
const StreamedKind kEvents{ObjectKind::kOther, "v1", "Event"};

std::string_view name_of(WatchedEvent::Type type) {
  switch (type) {
    case WatchedEvent::Type::kAdded: return "added";
    case WatchedEvent::Type::kModified: return "modified";
    case WatchedEvent::Type::kDeleted: return "deleted";
    case WatchedEvent::Type::kBookmark: return "bookmark";
    case WatchedEvent::Type::kError: return "error";
  }
  return "";
}

// "added default/a v5", "added (default/b) v6" for what was not decoded.
std::vector<std::string> told(const std::vector<WatchedEvent>& events) {
  std::vector<std::string> out;
  for (const WatchedEvent& event : events) {
    std::string what;
    if (const auto* pod = std::get_if<Ref<const Pod>>(&event.object)) {
      what = (*pod)->full_name();
    } else if (const auto* object = std::get_if<Ref<const Object>>(&event.object)) {
      what = (*object)->name;
    } else if (event.type == WatchedEvent::Type::kError) {
      what = event.detail->status.reason;
    } else {
      what =
          fmt::format("({}/{}){}", event.detail->header.namespace_name, event.detail->header.name,
                      event.detail->header.initial_events_end ? " initial-end" : "");
    }
    out.push_back(fmt::format("{} {} v{}", name_of(event.type), what, event.version()));
  }
  return out;
}

class EitherFormat : public ::testing::TestWithParam<BodyFormat> {
 protected:
  WatchWords words{GetParam()};
  Interner interner;
  std::vector<WatchedEvent> events;

  WireFormat wire() const { return words.is_json() ? WireFormat::kJson : WireFormat::kProtobuf; }
  std::unique_ptr<WatchReader> watch(const StreamedKind& kind = kPodStream) {
    return WatchReader::make(wire(), kind, interner, kLimit);
  }
  std::unique_ptr<ListReader> list(const StreamedKind& kind = kPodStream) {
    return ListReader::make(wire(), kind, interner, kLimit);
  }
};

const auto kBoth = ::testing::Values(BodyFormat::kJson, BodyFormat::kProtobuf);
std::string format_name(const ::testing::TestParamInfo<BodyFormat>& info) {
  return info.param == BodyFormat::kJson ? "Json" : "Protobuf";
}
INSTANTIATE_TEST_SUITE_P(, EitherFormat, kBoth, format_name);

TEST_P(EitherFormat, EventsComeOutHoweverTheBytesAreCut) {
  const std::string bytes = words.event("ADDED", pod_json("a", 5)) +
                            words.event("MODIFIED", pod_json("a", 6, {}, "n1")) +
                            words.bookmark("Pod", 8, true) + words.bookmark("Pod", 9) +
                            words.event("DELETED", pod_json("a", 10));
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, bytes.size()}) {
    events.clear();
    const auto reader = watch();
    for (std::size_t at = 0; at < bytes.size(); at += piece)
      reader->add(std::string_view(bytes).substr(at, piece), events);
    EXPECT_THAT(told(events), ElementsAre("added default/a v5", "modified default/a v6",
                                          "bookmark (/) initial-end v8", "bookmark (/) v9",
                                          "deleted default/a v10"));
    EXPECT_EQ(std::get<Ref<const Pod>>(events[1].object)->node_name(), "n1");
    EXPECT_TRUE(reader->at_boundary());
    EXPECT_FALSE(reader->error());
  }
}

TEST_P(EitherFormat, TextsComeAlongWhereTheyAreKept) {
  const std::string bytes = words.event("ADDED", pod_json("a", 5)) +
                            words.event("MODIFIED", pod_json("a", 6, {}, "n1")) +
                            words.bookmark("Pod", 8);
  const auto texts = [&](KeptText kept) {
    StreamedKind kind = kPodStream;
    kind.kept_text = kept;
    events.clear();
    watch(kind)->add(bytes, events);
    std::vector<std::string> out;
    for (const WatchedEvent& event : events) {
      if (!event.text) {
        out.emplace_back();
        continue;
      }
      const Result<Ref<const Pod>> read = decode_pod(*event.text, interner);
      out.push_back(read ? fmt::format("{} v{} on \"{}\"", (*read)->full_name(),
                                       (*read)->resource_version(), (*read)->node_name())
                         : read.error().message);
    }
    return out;
  };
  EXPECT_THAT(texts(KeptText::kNone), ElementsAre("", "", ""));
  EXPECT_THAT(texts(KeptText::kUnassigned), ElementsAre("default/a v5 on \"\"", "", ""));
  EXPECT_THAT(texts(KeptText::kAll),
              ElementsAre("default/a v5 on \"\"", "default/a v6 on \"n1\"", ""));

  StreamedKind nodes = kNodeStream;
  nodes.kept_text = KeptText::kAll;
  events.clear();
  watch(nodes)->add(words.event("ADDED", node_json("n1", 3)), events);
  ASSERT_TRUE(events.at(0).text);
  EXPECT_THAT(*events[0].text, HasSubstr("\"name\":\"n1\""));
}

TEST_P(EitherFormat, AStreamThatIsCutWithinAnEventIsNotAtABoundary) {
  const std::string bytes = words.event("ADDED", pod_json("a", 5));
  const auto reader = watch();
  reader->add(std::string_view(bytes).substr(0, bytes.size() - 3), events);
  EXPECT_THAT(events, IsEmpty());
  EXPECT_FALSE(reader->at_boundary());
  EXPECT_FALSE(reader->error());
}

TEST_P(EitherFormat, AnErrorEventIsTheLast) {
  const auto reader = watch();
  reader->add(words.event("ADDED", pod_json("a", 5)) +
                  words.event("ERROR", status_json(410, "Expired", "too old resource version")) +
                  words.event("ADDED", pod_json("b", 6)),
              events);
  reader->add(words.event("ADDED", pod_json("c", 7)), events);
  EXPECT_THAT(told(events), ElementsAre("added default/a v5", "error Expired v"));
  EXPECT_EQ(events[1].detail->status.code, 410);
}

TEST_P(EitherFormat, ObjectsThatCannotBeDecodedAreNamedAndTheRestGoesOn) {
  const auto reader = watch();
  reader->add(words.unreadable_pod_event("ADDED", "b", 6) + words.event("ADDED", pod_json("c", 7)),
              events);
  ASSERT_THAT(told(events), ElementsAre("added (default/b) v6", "added default/c v7"));
  ASSERT_TRUE(events[0].detail->undecodable);
  EXPECT_EQ(events[0].detail->header.uid, "uid-of-b");
}

TEST_P(EitherFormat, AnObjectOfAnotherKindIsNotTakenForOneOfThis) {
  const auto reader = watch();
  reader->add(words.event("ADDED", node_json("n1", 6)), events);
  ASSERT_THAT(told(events), ElementsAre("added (/n1) v6"));
  EXPECT_EQ(events[0].detail->undecodable->message, "expected a Pod, got a Node");
}

TEST_P(EitherFormat, KindsThatNothingReadsAreTakenNoteOfOnly) {
  const auto reader = watch(kEvents);
  reader->add(
      words.event(
          "ADDED",
          R"({"kind":"Event","apiVersion":"v1","metadata":{"namespace":"x","name":"p","resourceVersion":"3"}})"),
      events);
  ASSERT_THAT(told(events), ElementsAre("added (x/p) v3"));
  EXPECT_FALSE(events[0].detail->undecodable);
}

TEST_P(EitherFormat, AnEventOfAnUnknownTypeEndsTheStream) {
  const auto reader = watch();
  reader->add(words.event("CHANGED", pod_json("a", 5)) + words.event("ADDED", pod_json("a", 6)),
              events);
  EXPECT_THAT(events, IsEmpty());
  ASSERT_TRUE(reader->error());
  EXPECT_EQ(reader->error()->message, "unknown type of watch event \"CHANGED\"");
}

TEST_P(EitherFormat, AnEventBeyondTheLimitEndsTheStream) {
  const auto reader = WatchReader::make(wire(), kPodStream, interner, 40);
  reader->add(words.event("ADDED", pod_json("a", 5)), events);
  EXPECT_THAT(events, IsEmpty());
  ASSERT_TRUE(reader->error());
  EXPECT_THAT(reader->error()->message, HasSubstr("limit of 40"));
}

TEST_P(EitherFormat, AListComesItemByItem) {
  const std::string bytes =
      words.list("Node", 12, {node_json("n1", 3), node_json("n2", 4, "8")}, "go-on");
  for (const std::size_t piece : {std::size_t{1}, std::size_t{100}, bytes.size()}) {
    events.clear();
    const auto reader = list(kNodeStream);
    for (std::size_t at = 0; at < bytes.size(); at += piece)
      reader->add(std::string_view(bytes).substr(at, piece), events);
    EXPECT_THAT(told(events), ElementsAre("added n1 v3", "added n2 v4"));
    const Result<ListMeta> meta = reader->finish();
    ASSERT_TRUE(meta) << meta.error().message;
    EXPECT_EQ(meta->resource_version, "12");
    EXPECT_EQ(meta->continue_token, "go-on");
  }
}

TEST_P(EitherFormat, AnEmptyListIsWhole) {
  const auto reader = list();
  reader->add(words.list("Pod", 12, {}), events);
  const Result<ListMeta> meta = reader->finish();
  ASSERT_TRUE(meta) << meta.error().message;
  EXPECT_EQ(meta->resource_version, "12");
  EXPECT_THAT(events, IsEmpty());
}

TEST_P(EitherFormat, AListThatBreaksOffIsNotWhole) {
  const std::string bytes = words.list("Pod", 12, {pod_json("a", 3), pod_json("b", 4)});
  const auto reader = list();
  reader->add(std::string_view(bytes).substr(0, bytes.size() - 20), events);
  const Result<ListMeta> meta = reader->finish();
  ASSERT_FALSE(meta);
  EXPECT_EQ(meta.error().kind, ErrorKind::kUnavailable);
}

TEST_P(EitherFormat, AListOfAnotherKindIsRefused) {
  const auto reader = list();
  reader->add(words.list("Node", 12, {}), events);
  const Result<ListMeta> meta = reader->finish();
  ASSERT_FALSE(meta);
  EXPECT_EQ(meta.error().message, "expected a PodList, got \"NodeList\"");
}

TEST(WireFormatOf, FollowsTheMediaType) {
  EXPECT_EQ(wire_format("application/json"), WireFormat::kJson);
  EXPECT_EQ(wire_format("application/json; charset=utf-8"), WireFormat::kJson);
  EXPECT_EQ(wire_format("application/json;stream=watch"), WireFormat::kJson);
  EXPECT_EQ(wire_format("application/vnd.kubernetes.protobuf;stream=watch"), WireFormat::kProtobuf);
  EXPECT_EQ(wire_format("text/html"), std::nullopt);
  EXPECT_EQ(wire_format(""), std::nullopt);
}

std::vector<std::string> items_of(JsonListReader& reader) {
  std::vector<std::string> items;
  while (const auto item = reader.next()) items.emplace_back(*item);
  return items;
}

TEST(JsonListReader, BracketsAndQuotesInTextsDoNotCount) {
  JsonListReader reader(kLimit);
  reader.add(R"( {"a": {"items": [1, {"x": "]}"}]}, "b": "items", "items" : [ {"t":"\"}]{"} ,)"
             R"({"u":[{"items":[{}]}]} ], "z": "\\"} )");
  EXPECT_THAT(items_of(reader), ElementsAre(R"({"t":"\"}]{"})", R"({"u":[{"items":[{}]}]})"));
  EXPECT_TRUE(reader.complete());
  EXPECT_EQ(reader.rest(),
            R"( {"a": {"items": [1, {"x": "]}"}]}, "b": "items", "items" : [], "z": "\\"} )");
}

TEST(JsonListReader, NoItemsAtAllIsFine) {
  JsonListReader reader(kLimit);
  reader.add(R"({"kind":"PodList","items":null})");
  EXPECT_THAT(items_of(reader), IsEmpty());
  EXPECT_TRUE(reader.complete());
}

TEST(JsonListReader, WhatIsNoListIsAnError) {
  for (const std::string_view text : {"[]", "null", R"({"items":[1]})", R"({"items":[[]]})",
                                      R"({"items":["a"]})", R"({"items":[]} {)"}) {
    JsonListReader reader(kLimit);
    reader.add(text);
    items_of(reader);
    EXPECT_TRUE(reader.error()) << text;
    EXPECT_FALSE(reader.complete());
  }
}

TEST(JsonListReader, AnItemBeyondTheLimitIsAnError) {
  JsonListReader reader(20);
  reader.add(R"({"items":[{"name":"twenty-one characters"}]})");
  EXPECT_THAT(items_of(reader), IsEmpty());
  EXPECT_TRUE(reader.error());
}

}  // namespace
}  // namespace berth::kube::testing
