#include "store/object_set.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/testing/builders.h"
#include "base/testing/names.h"

namespace berth {
namespace {

struct ObjectSetTest : public ::testing::Test {
  AnyObject pod(const std::string& namespace_name, const std::string& name,
                const std::string& version = "1") {
    WrittenPod written(interner);
    written.meta.namespace_name = written.meta.symbols.intern(namespace_name);
    written.own.name = name;
    written.own.resource_version = version;
    return freeze(std::move(written), interner);
  }
  std::string version(const std::string& namespace_name, const std::string& name) const {
    const AnyObject found = set.find(namespace_name, name);
    const auto* pod = std::get_if<Ref<const Pod>>(&found);
    return pod ? std::string((*pod)->resource_version()) : "none";
  }
  std::vector<std::string> keys() const {
    std::vector<std::string> all;
    for (const AnyObject& object : set.sorted()) all.push_back(key_of(object));
    return all;
  }

  Interner interner;
  ObjectSet set;
};

TEST_F(ObjectSetTest, AnObjectTakesThePlaceOfTheOneOfItsName) {
  set.put(pod("a", "x"));
  set.put(pod("b", "x", "2"));
  set.put(pod("a", "x", "3"));
  EXPECT_EQ(set.size(), 2U);
  EXPECT_EQ(version("a", "x"), "3");
  EXPECT_EQ(version("b", "x"), "2");
  EXPECT_EQ(version("b", "y"), "none");
  EXPECT_TRUE(set.contains("a", "x"));
  EXPECT_FALSE(set.contains("", "x"));
}

TEST_F(ObjectSetTest, SortsByNamespaceAndNameAsOneText) {
  for (const char* name : {"a-b/x", "a/z", "a/b", "/n", "b/a"}) {
    const std::string text = name;
    const std::size_t slash = text.find('/');
    set.put(pod(text.substr(0, slash), text.substr(slash + 1)));
  }
  EXPECT_THAT(keys(), ElementsAre("/n", "a-b/x", "a/b", "a/z", "b/a"));
}

TEST_F(ObjectSetTest, PlacesAreUsedAgain) {
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 1000; ++i) set.put(pod("a", fmt::format("p{}", i)));
    EXPECT_EQ(set.size(), 1000U);
    for (int i = 0; i < 1000; ++i) {
      // By its own names, which go with it.
      const AnyObject found = set.find("a", fmt::format("p{}", i));
      set.erase(namespace_of(found), name_of(found));
    }
    EXPECT_EQ(set.size(), 0U);
    EXPECT_TRUE(set.sorted().empty());
  }
  set.erase("a", "never there");
}

}  // namespace
}  // namespace berth
