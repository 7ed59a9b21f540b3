#include "store/kind_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/testing/names.h"

namespace berth {
namespace {

struct Text {
  std::string name;
  std::string value;
};
using TextRef = std::shared_ptr<const Text>;

enum class TextChangeType : std::uint8_t { kPut, kDeleted };

struct TextChange {
  TextChangeType type = TextChangeType::kPut;
  std::uint64_t version = 0;
  TextRef object;
  TextRef previous;

  std::string key() const { return object->name; }
  std::size_t bytes() const { return object->value.size(); }
};

struct KindTableTest : ::testing::Test {
  KindTable<TextChange> table;
  std::uint64_t version = 0;
  std::size_t bound = 1000;

  TextChange commit(TextChangeType type, TextRef object) {
    TextChange change{type, ++version, std::move(object), nullptr};
    table.commit(change);
    table.remember(change, bound);
    return change;
  }
  TextChange put(std::string name, std::string value) {
    return commit(TextChangeType::kPut,
                  std::make_shared<Text>(Text{std::move(name), std::move(value)}));
  }
  TextChange remove(const std::string& name) {
    return commit(TextChangeType::kDeleted, table.find(name));
  }

  std::vector<std::string> now(std::string_view begin = {}, std::string_view end = {}) const {
    std::vector<std::string> seen;
    table.for_each(begin, end, [&](const std::string& key, const TextRef& object) {
      seen.push_back(key + "=" + object->value);
    });
    return seen;
  }
  std::vector<std::string> at(std::uint64_t past, std::string_view begin = {},
                              std::string_view end = {}) const {
    std::vector<std::string> seen;
    table.for_each_at(past, begin, end, [&](const std::string& key, const TextRef& object) {
      seen.push_back(key + "=" + object->value);
    });
    return seen;
  }
  std::vector<std::uint64_t> changes_after(std::uint64_t past) const {
    std::vector<std::uint64_t> versions;
    table.for_each_change_after(
        past, [&](const TextChange& change) { versions.push_back(change.version); });
    return versions;
  }
};

TEST_F(KindTableTest, AWriteTakesThePlaceOfWhatWasThere) {
  EXPECT_EQ(put("a", "1").previous, nullptr);
  EXPECT_EQ(put("a", "2").previous->value, "1");
  EXPECT_EQ(table.find("a")->value, "2");
  EXPECT_EQ(remove("a").previous->value, "2");
  EXPECT_EQ(table.find("a"), nullptr);
  EXPECT_FALSE(table.contains("a"));
}

TEST_F(KindTableTest, OnlyWhatIsStoredIsCurrent) {
  const TextRef first = put("a", "1").object;
  EXPECT_TRUE(table.is_current("a", first));
  const TextRef second = put("a", "1").object;
  EXPECT_FALSE(table.is_current("a", first)) << "the same value is another object";
  EXPECT_TRUE(table.is_current("a", second));
  remove("a");
  EXPECT_FALSE(table.is_current("a", second));
}

TEST_F(KindTableTest, ObjectsAreListedByKeyWithinARange) {
  put("c", "3");
  put("a", "1");
  put("b", "2");
  EXPECT_THAT(now(), ElementsAre("a=1", "b=2", "c=3"));
  EXPECT_THAT(now("b"), ElementsAre("b=2", "c=3"));
  EXPECT_THAT(now("a", "c"), ElementsAre("a=1", "b=2"));
}

TEST_F(KindTableTest, ARangeThatEndsBeforeItBeginsIsEmpty) {
  put("a", "1");
  put("b", "2");
  EXPECT_THAT(now("b", "a"), ::testing::IsEmpty());
  EXPECT_THAT(now("b", "b"), ::testing::IsEmpty());
  EXPECT_THAT(at(1, "b", "a"), ::testing::IsEmpty());
}

TEST_F(KindTableTest, APastStateIsReadFromTheHistory) {
  put("a", "1");
  put("c", "1");  // version 2
  put("a", "2");
  remove("c");
  put("b", "1");
  put("d", "1");
  EXPECT_THAT(at(2), ElementsAre("a=1", "c=1"));
  EXPECT_THAT(at(3), ElementsAre("a=2", "c=1"));
  EXPECT_THAT(at(4), ElementsAre("a=2"));
  EXPECT_THAT(at(5), ElementsAre("a=2", "b=1"));
  EXPECT_THAT(at(2, "b"), ElementsAre("c=1"));
  EXPECT_THAT(at(2, "a", "c"), ElementsAre("a=1"));
  EXPECT_EQ(at(version), now());
}

TEST_F(KindTableTest, ChangesAfterAVersionComeInOrder) {
  put("a", "1");
  put("b", "1");
  put("a", "2");
  EXPECT_THAT(changes_after(1), ElementsAre(2, 3));
  EXPECT_THAT(changes_after(3), IsEmpty());
}

TEST_F(KindTableTest, TheOldestChangesAreForgottenBeyondTheBound) {
  bound = 10;
  put("a", "1234");
  put("b", "1234");
  EXPECT_EQ(table.oldest(), 0u);
  EXPECT_TRUE(table.reaches_back_to(0));
  put("c", "1234");
  EXPECT_EQ(table.oldest(), 1u) << "twelve bytes are too many";
  EXPECT_FALSE(table.reaches_back_to(0));
  EXPECT_TRUE(table.reaches_back_to(1));
  EXPECT_THAT(changes_after(1), ElementsAre(2, 3));
  put("d", "larger than all that is kept");
  EXPECT_THAT(changes_after(0), IsEmpty());
  EXPECT_EQ(table.oldest(), 4u);
  EXPECT_THAT(now(), ElementsAre("a=1234", "b=1234", "c=1234", "d=larger than all that is kept"))
      << "objects stay";
}

TEST_F(KindTableTest, NobodyBeginsBeforeWhatIsDeclaredForgotten) {
  put("a", "1");
  table.forget_until(7);
  EXPECT_FALSE(table.reaches_back_to(6));
  EXPECT_TRUE(table.reaches_back_to(7));
}

}  // namespace
}  // namespace berth
