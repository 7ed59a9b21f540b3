#include "api/manifest_loader.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/testing/names.h"

namespace berth {
namespace {

class Text : public TextSource {
 public:
  explicit Text(std::string text) : text_(std::move(text)) {}
  Result<std::size_t> read(char* into, std::size_t size) override {
    const std::size_t count = std::min(size, text_.size() - at_);
    std::copy_n(text_.begin() + static_cast<std::ptrdiff_t>(at_), count, into);
    at_ += count;
    return count;
  }

 private:
  std::string text_;
  std::size_t at_ = 0;
};

// So much that a text is read piece by piece.
std::string filler() { return std::string(std::size_t{1} << 20, ' '); }

struct ManifestLoaderTest : public ::testing::Test {
  // The objects of files, or the error.
  std::vector<ManifestObject> load(const std::vector<std::string>& files) {
    ManifestLoader loader(interner, VirtualLoop::kDefaultStart);
    for (const std::string& file : files) {
      Text text(file);
      const Result<std::vector<std::string>> read = loader.read(text, "c.json");
      if (!read) {
        error = read.error().message;
        return {};
      }
      unknown.insert(unknown.end(), read->begin(), read->end());
    }
    Result<std::vector<ManifestObject>> objects = loader.finish();
    if (objects) return *std::move(objects);
    error = objects.error().message;
    return {};
  }

  // The same by the functions that read a whole text.
  std::vector<ManifestObject> read_whole(const std::string& text) {
    auto objects = read_manifest(text, "c.json", interner).value();
    EXPECT_TRUE(admit_all(objects, interner, VirtualLoop::kDefaultStart));
    return objects;
  }

  static const Pod& pod(const ManifestObject& object) {
    return *std::get<Ref<const Pod>>(object.object);
  }

  // Kinds, names and places of objects, and what admission made of pods.
  static std::vector<std::string> described(const std::vector<ManifestObject>& objects) {
    std::vector<std::string> lines;
    for (const ManifestObject& object : objects) {
      lines.push_back(fmt::format("{} {} {} {}", object.where, object.kind_text,
                                  object.namespace_name, object.name));
      if (object.kind != ObjectKind::kPod) continue;
      const Pod& made = pod(object);
      lines.back() += fmt::format(
          " {} {} {} {} {}", made.resource_version(), made.uid_text(), made.priority(),
          made.text(made.spec().priority_class_name),
          made.spec().preemption_policy == PreemptionPolicy::kNever ? "never" : "preempts");
    }
    return lines;
  }

  Interner interner;
  std::string error;
  std::vector<std::string> unknown;
};

std::string pod_json(const std::string& name, const std::string& spec = "") {
  return fmt::format(
      R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{}"}},"spec":{{{}}}}})", name, spec);
}

constexpr const char* kNode = R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n"}})";

TEST_F(ManifestLoaderTest, ReadsPieceByPieceWhatTheWholeTextSays) {
  const std::string items = fmt::format(
      R"([{}, {}, {{"apiVersion":"v1","kind":"List","items":[{}]}}, {},
      {{"apiVersion":"apps/v1","kind":"Deployment","metadata":{{"name":"d","namespace":"x"}}}},
      {{"apiVersion":"v1","kind":"Pod","metadata":{{"generateName":"job-"}}}},
      {{"apiVersion":"example.com/v1","kind":"Thing","metadata":{{"name":"t\u0041"}}}}])",
      kNode, pod_json("a"), pod_json("b"), pod_json("c", R"("priority": 7)"));
  const std::string texts[] = {
      R"({"kind":"List","apiVersion":"v1","items":)" + items + filler() + "}",
      // kubectl sorts members: what it is comes last.
      R"({"apiVersion":"v1","items":)" + items + filler() + R"(,"kind":"List","metadata":{}})",
      R"({"items":)" + items + filler() + R"(,"kind":"List","apiVersion":"v1"} )" + kNode,
      "\xEF\xBB\xBF" + pod_json("first") + filler() + "\n---\n" + kNode +
          "\n---\napiVersion: v1\nkind: Node\nmetadata: {name: yaml}\n",
  };
  for (const std::string& text : texts) {
    const auto objects = load({text});
    EXPECT_EQ(error, "");
    EXPECT_EQ(described(objects), described(read_whole(text))) << text.substr(0, 60);
    EXPECT_FALSE(objects.empty());
    for (const ManifestObject& object : objects)
      EXPECT_EQ(object.json.empty(), object.kind != ObjectKind::kDeployment) << object.name;
  }
}

TEST_F(ManifestLoaderTest, ItemsOfATypedListNeedNotSayTheirKind) {
  const std::string items = R"("items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}])";
  for (const std::string& text :
       {R"({"kind":"PodList","apiVersion":"v1",)" + items + filler() + "}",
        "{" + items + filler() + R"(,"apiVersion":"v1","kind":"PodList"})"}) {
    EXPECT_EQ(described(load({text})), described(read_whole(text)));
    EXPECT_EQ(load({text}).size(), 2U);
  }
}

TEST_F(ManifestLoaderTest, AnObjectWithItemsThatIsNoListIsOneObject) {
  const auto objects = load({R"({"apiVersion":"e.com/v1","items":[)" + pod_json("a") + "]" +
                             filler() + R"(,"kind":"Basket","metadata":{"name":"b"}})"});
  EXPECT_EQ(error, "");
  ASSERT_EQ(objects.size(), 1U);
  EXPECT_EQ(objects[0].kind_text, "Basket");
}

TEST_F(ManifestLoaderTest, PodsKnowClassesThatComeLater) {
  const auto a_class = [](const std::string& name, int value, const std::string& more = "") {
    return fmt::format(
        "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\n"
        "metadata: {{name: {}}}\nvalue: {}\n{}\n",
        name, value, more);
  };
  const std::vector<std::string> documents = {
      pod_json("plain"),
      pod_json("named", R"("priorityClassName": "high")"),
      pod_json("own", R"("priority": 5)"),
      pod_json("both", R"("priority": 5, "priorityClassName": "high")"),
      pod_json("polite",
               R"("priorityClassName": "high", "preemptionPolicy": "PreemptLowerPriority")"),
      a_class("late", 50, "globalDefault: true"),
      a_class("high", 100, "preemptionPolicy: Never"),
      pod_json("after"),
      a_class("low", 10, "globalDefault: true"),
  };
  std::string text;
  for (const std::string& document : documents) text += document + "\n---\n";
  const auto expected = described(read_whole(text));
  EXPECT_EQ(described(load({text})), expected);
  EXPECT_THAT(expected[0], HasSubstr(" 10 low preempts"));
  EXPECT_THAT(expected[1], HasSubstr(" 100 high never"));
  EXPECT_THAT(expected[3], HasSubstr(" 5 high never"));
  EXPECT_EQ(load(documents).size(), documents.size()) << "one file each";
  EXPECT_EQ(error, "");
}

TEST_F(ManifestLoaderTest, APodOfAClassThatNeverComesIsRefused) {
  load({pod_json("fine"), pod_json("p", R"("priorityClassName": "none")")});
  EXPECT_EQ(
      error,
      "c.json: document 1 (line 1): Pod default/p: no PriorityClass with name none was found");
}

TEST_F(ManifestLoaderTest, UnknownFieldsAreNamed) {
  load({pod_json("a", R"("nodeSelectr": {}, "containers": [{"name": "c", "colour": "red"}])")});
  EXPECT_THAT(unknown, ElementsAre("c.json: document 1 (line 1): Pod default/a: unknown field "
                                   "\"spec.nodeSelectr\", did you mean \"nodeSelector\"?",
                                   "c.json: document 1 (line 1): Pod default/a: unknown field "
                                   "\"spec.containers[0].colour\""));
}

TEST_F(ManifestLoaderTest, ErrorsOfALongTextSayWhere) {
  struct Row {
    std::string text;
    const char* message;
  };
  const std::string begin = R"({"kind":"List","apiVersion":"v1","items":[)" + filler() + "\n";
  const Row rows[] = {
      {begin + pod_json("a") + ",\n" + pod_json("b").substr(0, 30),
       "c.json: document 1 (line 1): line 3, byte 1048718: invalid JSON: the text ends in the "
       "middle"},
      {begin + pod_json("a") + "\n" + pod_json("b") + "]}",
       "c.json: document 1 (line 1): line 3, byte 1048687: invalid JSON: expected ',' or ']', got "
       "'{'"},
      {begin + pod_json("a") + ", " + pod_json("b", "\"priority\": \"x\"") + "]}",
       "c.json: document 1 (line 1): items[1]: Pod default/b: spec.priority: expected an integer, "
       "got a string"},
      {begin + "5]}", "c.json: document 1 (line 1): items[0]: expected a map, got a single value"},
      {begin + "{}]}", "c.json: document 1 (line 1): items[0]: kind: must be set"},
      {R"({"items":[)" + filler() + "],\"kind\":\"List\"}",
       "c.json: document 1 (line 1): apiVersion: must be set"},
  };
  for (const Row& row : rows) {
    EXPECT_TRUE(load({row.text}).empty());
    EXPECT_EQ(error, row.message);
  }
}

TEST_F(ManifestLoaderTest, GroupsGetThePriorityOfTheirClassWhereverThatStands) {
  const auto group = [](std::string_view name, std::string_view spec) {
    return fmt::format(
        "---\napiVersion: scheduling.k8s.io/v1beta1\nkind: PodGroup\nmetadata: {{name: {}}}\n"
        "spec: {{{}, schedulingPolicy: {{basic: {{}}}}}}\n",
        name, spec);
  };
  const std::string high =
      "---\napiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: high}\n"
      "value: 7\n";
  std::vector<std::int32_t> priorities;
  for (const ManifestObject& object :
       load({group("early", "priorityClassName: high") + high +
             group("late", "priorityClassName: high") + group("own", "priority: 3")}))
    if (object.kind == ObjectKind::kPodGroup)
      priorities.push_back(static_cast<const PodGroup&>(*std::get<Ref<const Object>>(object.object))
                               .effective_priority());
  EXPECT_THAT(priorities, ElementsAre(7, 7, 3));
}

}  // namespace
}  // namespace berth
