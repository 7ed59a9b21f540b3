// The two assume caches (volumes-dra-gang.md §2), and who is told of changes.
#include "cluster/assumed_objects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/testing/builders.h"
#include "base/testing/names.h"
#include "berth/views.h"

namespace berth {
namespace {

// Only what an assume cache looks at; the kind says whose it is.
struct Thing final : Object {
  Thing(ObjectKind object_kind, SymbolHold hold) : Object(object_kind, std::move(hold)) {}
  std::string class_name;
  std::string note;
};

struct AssumedObjects : ::testing::Test {
  berth::testing::World world;
  Cluster cluster{world.interner.symbols()};

  Ref<const Thing> make(ObjectKind kind, const std::string& namespace_name, const std::string& name,
                        const std::string& version, const std::string& note = "",
                        const std::string& class_name = "") {
    auto object = make_ref<Thing>(kind, world.interner.hold());
    object->namespace_name = object->symbols.intern(namespace_name);
    object->name = name;
    object->resource_version = version;
    object->note = note;
    object->class_name = class_name;
    return object;
  }
  static std::string note_of(const Ref<const Object>& object) {
    return object ? static_cast<const Thing&>(*object).note : "-";
  }
};

// ---- PersistentVolumes and PersistentVolumeClaims

struct Passive : AssumedObjects {
  PassiveAssumeCache<Thing> claims{cluster, ObjectKind::kPersistentVolumeClaim,
                                   "persistentvolumeclaims"};
  PassiveAssumeCache<Thing> volumes{cluster, ObjectKind::kPersistentVolume, "persistentvolumes",
                                    [](const Thing& thing) { return thing.class_name; }};

  Ref<const Thing> claim(const std::string& version, const std::string& note) {
    return make(ObjectKind::kPersistentVolumeClaim, "ns", "x", version, note);
  }
  Ref<const Thing> volume(const std::string& name, const std::string& class_name,
                          const std::string& version = "1", const std::string& note = "") {
    return make(ObjectKind::kPersistentVolume, "", name, version, note, class_name);
  }
  std::string got() {
    const Result<Ref<const Thing>> found = claims.get("ns", "x");
    return found ? note_of(*found) : found.error().message;
  }
  std::vector<std::string> of_class(const char* class_name) {
    std::vector<std::string> names;
    volumes.for_each(class_name, [&](const Ref<const Thing>& found) {
      names.push_back(found->name + found->note);
    });
    return names;
  }
};

TEST_F(Passive, WhatIsNotStoredIsNotFoundUnderItsPlural) {
  EXPECT_EQ(claims.get("ns", "x").error(),
            (Error{ErrorKind::kNotFound, "persistentvolumeclaims \"ns/x\" not found"}));
  EXPECT_EQ(volumes.stored("", "v").error(),
            (Error{ErrorKind::kNotFound, "persistentvolumes \"v\" not found"}));
  EXPECT_EQ(claims.assume(claim("1", "assumed")).error(),
            (Error{ErrorKind::kNotFound, "persistentvolumeclaims \"ns/x\" not found"}));
}

TEST_F(Passive, AnAssumedObjectCountsWhileTheStoreHasItsVersion) {
  cluster.put(claim("7", "stored"));
  ASSERT_TRUE(claims.assume(claim("7", "assumed")));
  EXPECT_EQ(got(), "assumed");
  EXPECT_EQ(note_of(*claims.stored("ns", "x")), "stored");

  cluster.put(claim("7", "shown again"));  // a resync: nothing has changed
  EXPECT_EQ(got(), "assumed");
  cluster.put(claim("8", "written"));
  EXPECT_EQ(got(), "written");
  EXPECT_EQ(claims.assumed_count(), 0U);
  cluster.put(claim("7", "stored"));  // versions do not come back; nor does what was assumed
  EXPECT_EQ(got(), "stored");
}

TEST_F(Passive, AnotherVersionCannotBeAssumed) {
  cluster.put(claim("7", "stored"));
  EXPECT_EQ(claims.assume(claim("6", "late")).error(),
            (Error{ErrorKind::kConflict, "\"ns/x\" is out of sync (stored: 7, assume: 6)"}));
  EXPECT_EQ(got(), "stored");
}

TEST_F(Passive, ADeletedObjectTakesItsAssumptionWithIt) {
  cluster.put(claim("7", "stored"));
  ASSERT_TRUE(claims.assume(claim("7", "assumed")));
  cluster.remove(ObjectKind::kPersistentVolumeClaim, "ns", "x");
  EXPECT_EQ(got(), "persistentvolumeclaims \"ns/x\" not found");
  EXPECT_EQ(claims.assumed_count(), 0U);
}

TEST_F(Passive, RestoreDropsOnlyTheSameVersion) {
  cluster.put(claim("7", "stored"));
  ASSERT_TRUE(claims.assume(claim("7", "assumed")));
  claims.restore(*claim("6", ""));
  EXPECT_EQ(got(), "assumed");
  claims.restore(*claim("7", ""));
  EXPECT_EQ(got(), "stored");
  claims.restore(*claim("7", ""));  // twice is fine
  EXPECT_EQ(got(), "stored");
}

TEST_F(Passive, TheIndexIsOverWhatIsStoredAndShowsWhatIsAssumed) {
  cluster.put(volume("b", "fast"));
  cluster.put(volume("a", "fast"));
  cluster.put(volume("c", "slow"));
  EXPECT_THAT(of_class("fast"), ElementsAre("a", "b"));
  // Assumed into another class: found under the stored one.
  ASSERT_TRUE(volumes.assume(volume("b", "slow", "1", "*")));
  EXPECT_THAT(of_class("fast"), ElementsAre("a", "b*"));
  EXPECT_THAT(of_class("slow"), ElementsAre("c"));
  // Stored there: no longer.
  cluster.put(volume("b", "slow", "2"));
  EXPECT_THAT(of_class("fast"), ElementsAre("a"));
  EXPECT_THAT(of_class("slow"), ElementsAre("b", "c"));
  cluster.remove(ObjectKind::kPersistentVolume, "", "c");
  EXPECT_THAT(of_class("slow"), ElementsAre("b"));
  EXPECT_THAT(of_class("none"), IsEmpty());
}

TEST_F(Passive, ACacheMadeLaterHasWhatWasThereBefore) {
  cluster.put(volume("a", "fast"));
  const PassiveAssumeCache<Thing> late{cluster, ObjectKind::kPersistentVolume, "persistentvolumes",
                                       [](const Thing& thing) { return thing.class_name; }};
  std::size_t found = 0;
  late.for_each("fast", [&](const Ref<const Thing>&) { ++found; });
  EXPECT_EQ(found, 1U);
}

TEST_F(Passive, EachProfileAssumesForItself) {
  PassiveAssumeCache<Thing> other{cluster, ObjectKind::kPersistentVolumeClaim,
                                  "persistentvolumeclaims"};
  cluster.put(claim("7", "stored"));
  ASSERT_TRUE(other.assume(claim("7", "assumed")));
  EXPECT_EQ(got(), "stored");
}

TEST_F(Passive, ACacheOfAnotherClusterAssumesTheSameOfEqualVersions) {
  cluster.put(claim("7", "stored"));
  ASSERT_TRUE(claims.assume(claim("7", "assumed")));
  Cluster copy{world.interner.symbols()};
  PassiveAssumeCache<Thing> copied{copy, ObjectKind::kPersistentVolumeClaim,
                                   "persistentvolumeclaims"};
  const auto note = [&] { return note_of(*copied.get("ns", "x")); };
  copy.put(claim("8", "newer"));
  copied.assume_as(claims);
  EXPECT_EQ(note(), "newer");
  copy.put(claim("7", "stored"));
  copied.assume_as(claims);
  EXPECT_EQ(note(), "assumed");
  claims.restore(*claim("7", ""));
  copied.assume_as(claims);
  EXPECT_EQ(note(), "stored");
}

TEST_F(Passive, WhatIsAssumedAnywhereIsCounted) {
  ObjectChanges& changes = cluster.object_changes();
  cluster.put(claim("7", "stored"));
  ASSERT_TRUE(claims.assume(claim("7", "assumed")));
  ASSERT_TRUE(claims.assume(claim("7", "assumed again")));
  EXPECT_EQ(changes.assumed(), 1U);
  {
    PassiveAssumeCache<Thing> other{cluster, ObjectKind::kPersistentVolumeClaim,
                                    "persistentvolumeclaims"};
    ASSERT_TRUE(other.assume(claim("7", "assumed")));
    EXPECT_EQ(changes.assumed(), 2U);
  }
  EXPECT_EQ(changes.assumed(), 1U);
  claims.restore(*claim("7", ""));
  EXPECT_EQ(changes.assumed(), 0U);
  ASSERT_TRUE(claims.assume(claim("7", "assumed")));
  cluster.put(claim("8", "written"));
  EXPECT_EQ(changes.assumed(), 0U);
}

// ---- ResourceClaims

struct Claims : AssumedObjects {
  AssumeCache& claims = cluster.assumed_claims();
  std::vector<std::string> told;  // "before > after"

  Ref<const Thing> claim(const std::string& version, const std::string& note) {
    return make(ObjectKind::kResourceClaim, "ns", "x", version, note);
  }
  Subscription listen(const std::string& prefix = "") {
    return claims.add_handler([this, prefix](const auto& before, const auto& after) {
      told.push_back(prefix + note_of(before) + " > " + note_of(after));
    });
  }
  std::string got() {
    const Result<Ref<const Object>> found = claims.get("ns", "x");
    return found ? note_of(*found) : found.error().message;
  }
};

TEST_F(Claims, AnUnknownClaimIsNotTheApisNotFound) {
  const Error expected{ErrorKind::kInternal, "could not find ResourceClaim \"ns/x\""};
  EXPECT_EQ(claims.get("ns", "x").error(), expected);
  EXPECT_EQ(claims.assume(claim("1", "")).error(), expected);
  claims.restore("ns", "x");  // fine
}

TEST_F(Claims, OurWriteIsToldBeforeTheWatchAndItsEchoIsNot) {
  const Subscription subscription = listen();
  cluster.put(claim("4", "stored"));
  ASSERT_TRUE(claims.assume(claim("5", "written")));
  EXPECT_EQ(got(), "written");
  EXPECT_EQ(note_of(*claims.stored("ns", "x")), "stored");
  EXPECT_EQ(claims.assumed_count(), 1U);
  EXPECT_THAT(told, ElementsAre("- > stored", "stored > written"));

  told.clear();
  cluster.put(claim("4", "stored"));  // the watch is behind
  EXPECT_EQ(got(), "written");
  cluster.put(claim("5", "echo"));
  EXPECT_THAT(told, IsEmpty());
  EXPECT_EQ(got(), "written");
  EXPECT_EQ(claims.assumed_count(), 0U) << "confirmed";
  claims.restore("ns", "x");
  EXPECT_EQ(got(), "written") << "nothing to take back any more";

  cluster.put(claim("6", "later"));
  EXPECT_THAT(told, ElementsAre("written > later"));
}

TEST_F(Claims, AnOlderVersionCannotBeAssumedAnEqualOneCan) {
  cluster.put(claim("10", "stored"));
  EXPECT_EQ(claims.assume(claim("9", "late")).error(),
            (Error{ErrorKind::kConflict,
                   "ResourceClaim \"ns/x\" is out of sync (stored: 10, assume: 9)"}));
  EXPECT_TRUE(claims.assume(claim("10", "same")));
  EXPECT_EQ(got(), "same");
}

TEST_F(Claims, RestoreGoesBackToWhatIsStored) {
  cluster.put(claim("4", "stored"));
  ASSERT_TRUE(claims.assume(claim("5", "written")));
  const Subscription subscription = listen();
  EXPECT_THAT(told, ElementsAre("- > written")) << "a new handler hears of the newest";
  told.clear();
  claims.restore("ns", "x");
  EXPECT_THAT(told, ElementsAre("written > stored"));
  claims.restore("ns", "x");
  EXPECT_EQ(told.size(), 1U);
  EXPECT_EQ(claims.assumed_count(), 0U);
}

TEST_F(Claims, ADeletedClaimIsGoneWithWhatWasAssumed) {
  cluster.put(claim("4", "stored"));
  ASSERT_TRUE(claims.assume(claim("5", "written")));
  const Subscription subscription = listen();
  told.clear();
  cluster.remove(ObjectKind::kResourceClaim, "ns", "x");
  EXPECT_THAT(told, ElementsAre("written > -"));
  EXPECT_EQ(got(), "could not find ResourceClaim \"ns/x\"");
  EXPECT_THAT(claims.list(), IsEmpty());
}

TEST_F(Claims, AChangeMadeByAHandlerIsToldAfterTheOneItHandles) {
  const Subscription first = claims.add_handler([this](const auto& before, const auto& after) {
    told.push_back("first: " + note_of(before) + " > " + note_of(after));
    if (!before) static_cast<void>(claims.assume(claim("2", "mine")));
  });
  const Subscription second = listen("second: ");
  cluster.put(claim("1", "new"));
  EXPECT_THAT(told, ElementsAre("first: - > new", "second: - > new", "first: new > mine",
                                "second: new > mine"));
}

TEST_F(Claims, WhoHasLeftHearsNothing) {
  Subscription subscription = listen();
  subscription.reset();
  cluster.put(claim("1", "new"));
  EXPECT_THAT(told, IsEmpty());
}

// Programs that feed the scheduler themselves may have versions of their own making.
TEST_F(Claims, OfVersionsThatAreNoNumbersTheLastOneCounts) {
  cluster.put(claim("b", "first"));
  cluster.put(claim("a", "second"));
  EXPECT_EQ(got(), "second");
  EXPECT_TRUE(claims.assume(claim("0", "third")));
  EXPECT_EQ(got(), "third");
}

TEST_F(Claims, AreListedByNamespaceAndName) {
  cluster.put(make(ObjectKind::kResourceClaim, "b", "x", "1", "bx"));
  cluster.put(make(ObjectKind::kResourceClaim, "a", "y", "1", "ay"));
  cluster.put(make(ObjectKind::kResourceClaim, "a", "x", "1", "ax"));
  std::vector<std::string> notes;
  for (const Ref<const Object>& object : claims.list()) notes.push_back(note_of(object));
  EXPECT_THAT(notes, ElementsAre("ax", "ay", "bx"));
}

// ---- who is told of changes

struct CountingWatcher final : ObjectChanges::Watcher {
  void changed() override { ++times; }
  int times = 0;
};

struct Watched : AssumedObjects {
  ObjectChanges& changes = cluster.object_changes();
  CountingWatcher watcher;

  int times() { return std::exchange(watcher.times, 0); }
};

TEST_F(Watched, ANameIsToldOfEveryKindOfChange) {
  const std::vector<ObjectName> names{{ObjectKind::kPersistentVolume, "", "v"},
                                      {ObjectKind::kPod, "default", "p"},
                                      {ObjectKind::kNode, "", "n1"}};
  changes.watch(names, watcher);
  cluster.put(make(ObjectKind::kPersistentVolume, "", "v", "1"));
  EXPECT_EQ(times(), 1);
  cluster.put(make(ObjectKind::kPersistentVolume, "", "v", "2"));
  EXPECT_EQ(times(), 1);
  cluster.put(make(ObjectKind::kPersistentVolume, "", "w", "1"));
  cluster.put(make(ObjectKind::kPersistentVolumeClaim, "", "v", "1"));
  EXPECT_EQ(times(), 0);
  cluster.remove(ObjectKind::kPersistentVolume, "", "v");
  EXPECT_EQ(times(), 1);
  cluster.remove(ObjectKind::kPersistentVolume, "", "v");
  EXPECT_EQ(times(), 0);

  const Ref<const Pod> pod = world.pod("p");
  cluster.see_pod(pod);
  cluster.see_pod(world.pod("q"));
  cluster.remove_seen_pod(*pod);
  EXPECT_EQ(times(), 2);
  cluster.add_node(world.node("n1"));
  cluster.add_node(world.node("n2"));
  cluster.update_node(world.node("n1").cordoned());
  ASSERT_TRUE(cluster.remove_node(world.symbol("n1")));
  EXPECT_EQ(times(), 3);

  changes.unwatch(names, watcher);
  cluster.put(make(ObjectKind::kPersistentVolume, "", "v", "1"));
  EXPECT_EQ(times(), 0);
  EXPECT_EQ(changes.watched(), 0U);
}

TEST_F(Watched, SeveralMayWaitForOneObject) {
  CountingWatcher other;
  const std::vector<ObjectName> names{{ObjectKind::kResourceClaim, "ns", "x"}};
  changes.watch(names, watcher);
  changes.watch(names, other);
  changes.unwatch(names, watcher);
  cluster.put(make(ObjectKind::kResourceClaim, "ns", "x", "1"));
  EXPECT_EQ(times(), 0);
  EXPECT_EQ(other.times, 1);
  changes.unwatch(names, other);
}

TEST_F(Watched, AListenerHearsWhatWasAndWhatIs) {
  std::vector<std::string> heard;
  const Subscription subscription =
      changes.listen(ObjectKind::kStorageClass,
                     [&](const Ref<const Object>& before, const Ref<const Object>& after) {
                       heard.push_back(note_of(before) + " > " + note_of(after));
                     });
  cluster.put(make(ObjectKind::kStorageClass, "", "c", "1", "one"));
  cluster.put(make(ObjectKind::kStorageClass, "", "c", "2", "two"));
  cluster.remove(ObjectKind::kStorageClass, "", "c");
  cluster.put(make(ObjectKind::kCSINode, "", "c", "1", "another kind"));
  EXPECT_THAT(heard, ElementsAre("- > one", "one > two", "two > -"));
}

}  // namespace
}  // namespace berth
