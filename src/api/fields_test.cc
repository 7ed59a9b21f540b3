#include "api/fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <memory>

#include "api/proto_json.h"
#include "api/write_fields.h"

namespace berth {
namespace {

struct Reference {
  std::string kind;
  std::string name;
};

struct Example {
  std::vector<std::string> finalizers;
  std::vector<Label> labels;
  std::int64_t generation = 0;
  std::vector<Reference> owners;
  std::uint64_t dropped = 0;
};

using ReferenceFields = FieldList<"apimachinery.pkg.apis.meta.v1.OwnerReference",
                                  Field<"name", &Reference::name>, Field<"kind", &Reference::kind>>;
using ExampleFields =
    FieldList<"apimachinery.pkg.apis.meta.v1.ObjectMeta", Field<"finalizers", &Example::finalizers>,
              Field<"labels", &Example::labels>, Field<"generation", &Example::generation>,
              Field<"ownerReferences", &Example::owners, By<ReferenceFields>{}>,
              Hashed<"managedFields", &Example::dropped>>;

class FieldLists : public ::testing::Test {
 protected:
  Example from_json(std::string_view text) {
    JsonReader json(text);
    return from(json);
  }
  Example from_proto(std::string_view metadata) {
    // What an API server would send: the message of a pod that has this metadata.
    const auto pod = json_to_proto("v1", "Pod", fmt::format(R"({{"metadata":{}}})", metadata));
    ProtoReader outer(pod.value());
    Example out;
    outer.fields([&](std::uint32_t field) {
      if (field == 1) out = from(outer);
    });
    return out;
  }
  template <typename Reader>
  Example from(Reader& reader) {
    Example example;
    ExampleFields::read(reader, symbols_, example);
    error_ = reader.error() ? reader.error()->message : "";
    return example;
  }

  SymbolHold symbols_{std::make_shared<Symbols>()};
  std::string error_;
};

TEST_F(FieldLists, BothEncodingsFillTheSameMembers) {
  constexpr std::string_view kText =
      R"({"name":"x","generation":7,"labels":{"a":"b"},"finalizers":["f","g"],
          "ownerReferences":[{"apiVersion":"v1","kind":"K","name":"n","uid":"u"}]})";
  for (const Example& example : {from_json(kText), from_proto(kText)}) {
    EXPECT_EQ(error_, "");
    EXPECT_EQ(example.generation, 7);
    EXPECT_THAT(example.finalizers, ::testing::ElementsAre("f", "g"));
    ASSERT_EQ(example.labels.size(), 1U);
    EXPECT_EQ(symbols_.text(example.labels[0].value), "b");
    ASSERT_EQ(example.owners.size(), 1U);
    EXPECT_EQ(example.owners[0].kind, "K");
    EXPECT_EQ(example.owners[0].name, "n");
  }
}

TEST_F(FieldLists, AFieldThatStandsTwiceReplacesTheFirstInJsonOnly) {
  EXPECT_THAT(from_json(R"({"finalizers":["a","b"],"finalizers":["c"]})").finalizers,
              ::testing::ElementsAre("c"));
  // Number 14 twice: in protobuf that is how a list is written.
  const std::string bytes =
      "\x72\x01"
      "a\x72\x01"
      "c";
  ProtoReader proto(bytes);
  EXPECT_THAT(from(proto).finalizers, ::testing::ElementsAre("a", "c"));
}

TEST_F(FieldLists, NullIsAbsentAndAnEntryOfAMapMayBeNull) {
  const Example example = from_json(
      R"({"finalizers":null,"generation":null,"labels":{"a":null},"ownerReferences":[null]})");
  EXPECT_EQ(error_, "");
  EXPECT_EQ(example.labels.size(), 1U);
  EXPECT_EQ(example.owners.size(), 1U);
}

TEST_F(FieldLists, ErrorsNameThePath) {
  from_json(R"({"ownerReferences":[{"kind":"K"},{"kind":5}]})");
  EXPECT_EQ(error_, "ownerReferences[1].kind: expected a string, got a number");
  const std::string bytes = "\x6a\x02\x08\x05";  // ownerReferences: kind is a number
  ProtoReader proto(bytes);
  from(proto);
  EXPECT_EQ(error_, "field 13.1: expected bytes, got a number");
}

TEST_F(FieldLists, AHashTellsChangesOfWhatIsDropped) {
  const auto hash = [&](std::string_view text) { return from_json(text).dropped; };
  EXPECT_EQ(hash(R"({"managedFields":[{"manager":"a"}]})"),
            hash(R"({"generation":1,"managedFields":[{"manager":"a"}]})"));
  EXPECT_NE(hash(R"({"managedFields":[{"manager":"a"}]})"),
            hash(R"({"managedFields":[{"manager":"b"}]})"));
}

TEST_F(FieldLists, MembersAreWrittenInTheOrderOfJsonAndOmittedByTheSchema) {
  Example example;
  example.owners = {{"K", ""}};
  EXPECT_EQ(to_json(write_fields<ExampleFields>(example, *symbols_.table())),
            R"({"ownerReferences":[{"kind":"K","name":""}]})");
  example.generation = 3;
  example.finalizers = {"f"};
  EXPECT_EQ(to_json(write_fields<ExampleFields>(example, *symbols_.table())),
            R"({"generation":3,"ownerReferences":[{"kind":"K","name":""}],"finalizers":["f"]})");
}

}  // namespace
}  // namespace berth
