#include "kube/kind_mirror.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/testing/builders.h"
#include "base/testing/names.h"

namespace berth::kube {
namespace {

using Type = WatchedEvent::Type;

struct Mirrored {
  struct Version {
    std::string name, uid;
    int version;
  };
  // With objects that the mirror knows already.
  explicit Mirrored(const std::vector<Version>& known = {}) {
    for (const auto& [name, uid, version] : known) change(Type::kAdded, name, uid, version);
    taken();
  }

  World world;
  std::vector<std::string> deltas;
  KindMirror::Apply apply = [this](const Delta& delta) { deltas.push_back(text(delta)); };
  std::unique_ptr<KindMirror> mirror = KindMirror::make(ObjectKind::kPod, apply);

  static std::string text(const Delta& delta) {
    const Pod& pod = *std::get<Ref<const Pod>>(delta.object);
    const char* type = delta.type == DeltaType::kAdded     ? "+"
                       : delta.type == DeltaType::kUpdated ? "~"
                                                           : "-";
    return fmt::format("{}{}/{}@{}", type, pod.name(), pod.uid_text(), pod.resource_version());
  }

  WatchedEvent event(Type type, std::string name, std::string uid, int version) {
    WatchedEvent made;
    made.type = type;
    made.object =
        world.pod(std::move(name)).uid(std::move(uid)).version(fmt::format("{}", version)).build();
    return made;
  }
  // Of an object that could not be decoded.
  static WatchedEvent unreadable(Type type, std::string name, std::string uid, int version) {
    WatchedEvent made;
    made.type = type;
    made.detail = std::make_unique<WatchedEvent::Detail>();
    made.detail->header = {"default", std::move(name), std::move(uid), fmt::format("{}", version),
                           false};
    made.detail->undecodable = Error{ErrorKind::kInvalid, "odd"};
    return made;
  }

  void change(Type type, std::string name, std::string uid, int version) {
    mirror->changed(event(type, std::move(name), std::move(uid), version));
  }
  void list(std::string name, std::string uid, int version) {
    mirror->listed(event(Type::kAdded, std::move(name), std::move(uid), version));
  }
  // The deltas of a whole list.
  std::vector<std::string> relisted(const std::vector<Version>& objects) {
    mirror->begin_list();
    for (const auto& [name, uid, version] : objects) list(name, uid, version);
    mirror->finish_list();
    return taken();
  }
  std::vector<std::string> taken() { return std::exchange(deltas, {}); }
};

TEST(KindMirror, ChangesOfAWatchBecomeDeltas) {
  Mirrored is;
  is.change(Type::kAdded, "a", "u1", 5);
  is.change(Type::kModified, "a", "u1", 7);
  is.change(Type::kDeleted, "a", "u1", 9);
  EXPECT_THAT(is.taken(), ElementsAre("+a/u1@5", "~a/u1@7", "-a/u1@9"));
  EXPECT_EQ(is.mirror->size(), 0U);
}

TEST(KindMirror, TextsAreHandedOnBeforeTheirDeltas) {
  Mirrored is;
  const KindMirror::TakeText take = [&](const Delta& delta, const ObjectText& text,
                                        KindMirror::Learned) {
    is.deltas.push_back((text ? *text : "nothing") + " for " + Mirrored::text(delta));
  };
  is.mirror = KindMirror::make(ObjectKind::kPod, is.apply, &take);
  const auto event = [&](Type type, std::string uid, int version, const char* text) {
    WatchedEvent made = is.event(type, "a", std::move(uid), version);
    made.text = std::make_shared<const std::string>(text);
    return made;
  };
  is.mirror->begin_list();
  is.mirror->listed(event(Type::kAdded, "u1", 5, "five"));
  is.mirror->finish_list();
  is.mirror->changed(event(Type::kModified, "u1", 7, "seven"));
  is.mirror->changed(event(Type::kModified, "u1", 6, "old news"));
  is.mirror->changed(event(Type::kAdded, "u2", 8, "eight"));
  is.mirror->changed(event(Type::kDeleted, "u2", 9, "nine"));
  EXPECT_THAT(is.taken(), ElementsAre("five for +a/u1@5", "+a/u1@5", "seven for ~a/u1@7", "~a/u1@7",
                                      "nothing for -a/u1@7", "-a/u1@7", "eight for +a/u2@8",
                                      "+a/u2@8", "nothing for -a/u2@9", "-a/u2@9"));
}

TEST(KindMirror, TellsHowAChangeBecameKnown) {
  Mirrored is;
  std::vector<KindMirror::Learned> learned;
  const KindMirror::TakeText take = [&](const Delta&, const ObjectText&, KindMirror::Learned how) {
    learned.push_back(how);
  };
  is.mirror = KindMirror::make(ObjectKind::kPod, is.apply, &take);
  is.mirror->begin_list();
  is.mirror->listed(is.event(Type::kAdded, "a", "u1", 5));
  is.mirror->finish_list();
  is.change(Type::kModified, "a", "u1", 7);
  is.mirror->begin_list();
  is.mirror->listed(is.event(Type::kAdded, "b", "u2", 9));
  is.mirror->finish_list();
  is.change(Type::kDeleted, "b", "u2", 10);
  using enum KindMirror::Learned;
  EXPECT_THAT(learned,
              ElementsAre(kFromFirstList, kFromWatch, kFromLaterList, kFromLaterList, kFromWatch));
}

// The store behind the server was set back, and has used versions again.
TEST(KindMirror, AListThatDoesNotTrustVersionsReplacesWhatIsNotNewer) {
  Mirrored is({{"a", "u1", 5}, {"b", "u2", 6}, {"c", "u3", 7}, {"d", "u4", 8}});
  WatchedEvent bound = is.event(Type::kAdded, "a", "u1", 5);
  bound.object = with_node(*std::get<Ref<const Pod>>(bound.object), "n");
  is.mirror->begin_list(/*trusts_versions=*/false);
  is.mirror->listed(std::move(bound));
  is.mirror->listed(is.event(Type::kAdded, "c", "u3", 4));
  is.mirror->listed(is.event(Type::kAdded, "d", "u4", 9));
  is.mirror->finish_list();
  EXPECT_THAT(is.taken(),
              ElementsAre("-a/u1@5", "+a/u1@5", "-c/u3@7", "+c/u3@4", "~d/u4@9", "-b/u2@6"));
  is.change(Type::kModified, "a", "u1", 5);
  EXPECT_THAT(is.taken(), IsEmpty());
  is.mirror->begin_list();
  is.mirror->listed(is.event(Type::kAdded, "a", "u1", 5));
  is.mirror->listed(is.event(Type::kAdded, "c", "u3", 4));
  is.mirror->listed(is.event(Type::kAdded, "d", "u4", 9));
  is.mirror->finish_list();
  EXPECT_THAT(is.taken(), IsEmpty());
}

TEST(KindMirror, AListThatDoesNotTrustVersionsTellsNothingOfAPodThatIsTheSame) {
  Mirrored is;
  const Ref<const Pod> known = is.world.pod("a").uid("u1").version("5").on("n").label("app", "web");
  const auto list = [&](const Ref<const Pod>& pod) {
    WatchedEvent event;
    event.object = pod;
    is.mirror->begin_list(/*trusts_versions=*/false);
    is.mirror->listed(std::move(event));
    is.mirror->finish_list();
    return is.taken();
  };
  EXPECT_THAT(list(known), ElementsAre("+a/u1@5"));
  EXPECT_THAT(list(make_pod(draft_of(*known))), IsEmpty());
  EXPECT_EQ(is.mirror->size(), 1U);

  const auto changed = [&](auto change) {
    PodDraft draft = draft_of(*known);
    change(draft);
    const Ref<const Pod> other = make_pod(std::move(draft));
    const bool is_told = !list(other).empty();
    (void)list(known);
    return is_told;
  };
  const auto extra = [&](auto change) {
    return changed([&](PodDraft& draft) {
      draft.extra = std::make_unique<PodExtra>(is.world.interner.hold());
      change(*draft.extra);
    });
  };
  const WallTime later{std::chrono::seconds(7)};
  const Ref<const Pod> labelled = is.world.pod("x").label("app", "api");
  const Ref<const Pod> larger = is.world.pod("x").label("app", "web").cpu("1");
  EXPECT_TRUE(changed([&](PodDraft& draft) { draft.meta = labelled->meta_ref(); }));
  EXPECT_TRUE(changed([&](PodDraft& draft) { draft.spec = larger->spec_ref(); }));
  EXPECT_TRUE(changed([](PodDraft& draft) { draft.node_name = "m"; }));
  EXPECT_TRUE(changed([](PodDraft& draft) { draft.nominated_node_name = "m"; }));
  EXPECT_TRUE(changed([](PodDraft& draft) { draft.resource_version = "4"; }));
  EXPECT_TRUE(changed([](PodDraft& draft) { draft.generation = 9; }));
  EXPECT_TRUE(changed([](PodDraft& draft) { draft.phase = PodPhase::kFailed; }));
  EXPECT_TRUE(changed([](PodDraft& draft) { draft.scheduled_condition ^= true; }));
  EXPECT_TRUE(changed([&](PodDraft& draft) { draft.creation_time = later; }));
  EXPECT_TRUE(changed([&](PodDraft& draft) { draft.start_time = later; }));
  EXPECT_TRUE(changed([&](PodDraft& draft) { draft.deletion_time = later; }));
  EXPECT_TRUE(extra([](PodExtra& of) { of.conditions.emplace_back().type = "PodScheduled"; }));
  EXPECT_TRUE(extra([](PodExtra& of) { of.container_resources.emplace_back(); }));
  EXPECT_TRUE(extra([](PodExtra& of) { of.pod_resources.emplace(); }));
  EXPECT_TRUE(extra([](PodExtra& of) { of.resource_claim_statuses.emplace_back(); }));
  EXPECT_TRUE(extra([](PodExtra& of) { of.extended_resource_claim_status.emplace(); }));
}

TEST(KindMirror, AListThatDoesNotTrustVersionsTellsNothingOfANodeThatIsTheSame) {
  World world;
  std::size_t deltas = 0;
  const KindMirror::Apply apply = [&](const Delta&) { ++deltas; };
  const std::unique_ptr<KindMirror> mirror = KindMirror::make(ObjectKind::kNode, apply);
  const auto told = [&](const Ref<const Node>& node) {
    WatchedEvent event;
    event.object = Ref<const Object>(node);
    mirror->begin_list(/*trusts_versions=*/false);
    mirror->listed(std::move(event));
    mirror->finish_list();
    return std::exchange(deltas, 0) > 0;
  };
  const Ref<const Node> known = world.node("n").zone("z");
  const auto changed = [&](auto change) {
    auto other = make_ref<Node>(*known);
    change(*other);
    const bool is_told = told(Ref<const Node>(std::move(other)));
    (void)told(known);
    return is_told;
  };
  EXPECT_TRUE(told(known));
  EXPECT_FALSE(changed([](Node&) {}));
  const Symbol name = known->symbol;
  EXPECT_TRUE(changed([](Node& node) { node.generation = 9; }));
  EXPECT_TRUE(changed([](Node& node) { node.labels = {}; }));
  EXPECT_TRUE(changed([&](Node& node) { node.annotations = LabelSet({{name, name}}); }));
  EXPECT_TRUE(changed([](Node& node) { node.taints.emplace_back(); }));
  EXPECT_TRUE(changed([](Node& node) { node.unschedulable ^= true; }));
  EXPECT_TRUE(changed([&](Node& node) { node.capacity.set(name, {}); }));
  EXPECT_TRUE(changed([&](Node& node) { node.allocatable.set(name, {}); }));
  EXPECT_TRUE(changed([](Node& node) { node.images.emplace_back(); }));
  EXPECT_TRUE(changed([](Node& node) { node.conditions.emplace_back(); }));
  EXPECT_TRUE(changed([&](Node& node) { node.declared_features.push_back(name); }));
}

TEST(KindMirror, WhatTheServerCallsItDoesNotMatter) {
  Mirrored is;
  is.change(Type::kModified, "a", "u1", 5);
  is.change(Type::kAdded, "a", "u1", 7);
  EXPECT_THAT(is.taken(), ElementsAre("+a/u1@5", "~a/u1@7"));
}

TEST(KindMirror, AnOlderOrEqualVersionIsNoNews) {
  Mirrored is({{"a", "u1", 10}});
  is.change(Type::kModified, "a", "u1", 10);
  is.change(Type::kModified, "a", "u1", 9);  // as texts, 9 would be the larger one
  is.change(Type::kAdded, "a", "u0", 8);     // one that had the name before
  is.change(Type::kDeleted, "a", "u0", 9);
  is.change(Type::kDeleted, "b", "u5", 11);  // nobody knows it
  EXPECT_THAT(is.taken(), IsEmpty());
}

TEST(KindMirror, ADeletionMayComeWithTheVersionThatWasDeleted) {
  Mirrored is;
  is.change(Type::kAdded, "a", "u1", 10);
  is.change(Type::kDeleted, "a", "u1", 10);
  EXPECT_THAT(is.taken(), ElementsAre("+a/u1@10", "-a/u1@10"));
}

TEST(KindMirror, AnotherUidUnderTheSameNameIsAnotherObject) {
  Mirrored is;
  is.change(Type::kAdded, "a", "u1", 10);
  is.change(Type::kModified, "a", "u2", 12);
  is.change(Type::kDeleted, "a", "u3", 15);  // came and went unseen, and so did the one before
  EXPECT_THAT(is.taken(), ElementsAre("+a/u1@10", "-a/u1@10", "+a/u2@12", "-a/u2@12"));
}

TEST(KindMirror, AListTellsWhatCameChangedAndWent) {
  Mirrored is({{"same", "u1", 1},
               {"changed", "u2", 2},
               {"gone", "u3", 3},
               {"gone-too", "u6", 3},
               {"anew", "u4", 4}});
  is.mirror->begin_list();
  is.list("new", "u5", 10);
  is.list("anew", "u7", 11);
  is.list("changed", "u2", 12);
  is.list("same", "u1", 1);
  EXPECT_THAT(is.taken(), IsEmpty()) << "a list counts when it is whole";
  is.mirror->finish_list();
  EXPECT_THAT(is.taken(), ElementsAre("+new/u5@10", "-anew/u4@4", "+anew/u7@11", "~changed/u2@12",
                                      "-gone/u3@3", "-gone-too/u6@3"));
  EXPECT_EQ(is.mirror->size(), 4U);
}

TEST(KindMirror, AListThatBreaksOffLeavesNoTrace) {
  Mirrored is({{"a", "u1", 1}, {"b", "u2", 2}});
  is.mirror->begin_list();
  is.list("a", "u1", 1);
  is.list("c", "u3", 3);
  is.mirror->abandon_list();
  EXPECT_THAT(is.taken(), IsEmpty());
  // What the broken one had seen does not count for the next.
  EXPECT_THAT(is.relisted({{"b", "u2", 2}}), ElementsAre("-a/u1@1"));
}

TEST(KindMirror, ChangesDuringAStreamingListAreAppliedInOrder) {
  Mirrored is({{"a", "u1", 1}, {"b", "u2", 2}});
  is.mirror->begin_list();
  is.list("a", "u1", 1);
  is.list("b", "u2", 2);
  is.list("c", "u3", 3);
  is.mirror->listed(is.event(Type::kModified, "c", "u3", 4));
  is.mirror->listed(is.event(Type::kModified, "a", "u1", 5));
  is.mirror->listed(is.event(Type::kDeleted, "b", "u2", 6));
  is.mirror->finish_list();
  EXPECT_THAT(is.taken(), ElementsAre("+c/u3@3", "~c/u3@4", "~a/u1@5", "-b/u2@6"));
  EXPECT_EQ(is.mirror->size(), 2U);
}

TEST(KindMirror, AListIsRightEvenIfTheStoreWasSetBack) {
  Mirrored is({{"a", "u1", 100}, {"b", "u2", 101}});
  EXPECT_THAT(is.relisted({{"a", "u1", 50}, {"b", "u0", 40}}),
              ElementsAre("-a/u1@100", "+a/u1@50", "-b/u2@101", "+b/u0@40"));
}

TEST(KindMirror, AnObjectThatCannotBeReadIsNotTakenForGone) {
  Mirrored is({{"a", "u1", 1}, {"b", "u2", 2}});
  is.mirror->changed(Mirrored::unreadable(Type::kModified, "a", "u1", 5));
  is.mirror->begin_list();
  is.mirror->listed(Mirrored::unreadable(Type::kAdded, "a", "u1", 5));
  is.mirror->listed(Mirrored::unreadable(Type::kAdded, "b", "u9", 6));  // another of that name
  is.mirror->listed(Mirrored::unreadable(Type::kAdded, "c", "u3", 7));
  is.mirror->finish_list();
  EXPECT_THAT(is.taken(), ElementsAre("-b/u2@2"));
  is.mirror->changed(Mirrored::unreadable(Type::kDeleted, "a", "u1", 8));
  EXPECT_THAT(is.taken(), ElementsAre("-a/u1@1"));
}

TEST(KindMirror, AListWithAnObjectWithoutAReadableNameRemovesNothing) {
  Mirrored is({{"a", "u1", 1}});
  is.mirror->begin_list();
  is.mirror->listed(Mirrored::unreadable(Type::kAdded, "", "", 0));
  is.mirror->finish_list();
  EXPECT_THAT(is.taken(), IsEmpty());
  EXPECT_THAT(is.relisted({}), ElementsAre("-a/u1@1"));
}

TEST(KindMirror, VersionsAreNumbers) {
  EXPECT_TRUE(is_newer_version("10", "9"));
  EXPECT_TRUE(is_newer_version("18446744073709551617", "18446744073709551616"));
  EXPECT_FALSE(is_newer_version("9", "10"));
  EXPECT_FALSE(is_newer_version("010", "10"));
  EXPECT_TRUE(is_newer_version("1", ""));
  EXPECT_TRUE(is_newer_version("b", "c"));
  EXPECT_FALSE(is_newer_version("b", "b"));
}

}  // namespace
}  // namespace berth::kube
