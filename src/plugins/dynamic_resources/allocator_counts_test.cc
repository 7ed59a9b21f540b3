// How many devices a request gets, and which of its subrequests.
#include "plugins/dynamic_resources/allocator.h"

#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "plugins/dynamic_resources/testing/allocator_case.h"

namespace berth::plugins {
namespace {

TEST(Allocator, NoClaimHoldsMoreThanThirtyTwoDevices) {
  const std::string many = slice("s", on("n1"), devices(40));
  check({
      {"thirty-two are fine",
       {many},
       {},
       {claim("c", exact("r", 32))},
       "c:" + taken("r", 1, 32) + " @n1"},
      {"one more is not",
       {many},
       {},
       {claim("c", exact("r", 33))},
       "error: claim default/c, request r: adding 33 devices exceeds the claim limit of 32, with 0 "
       "already accounted for"},
      {"all requests together",
       {many},
       {},
       {claim("c", list({exact("x", 20), exact("w", 13)}))},
       "error: claim default/c, request w: adding 13 devices exceeds the claim limit of 32, with "
       "20 already accounted for"},
      {"before later requests are looked at",
       {many},
       {},
       {claim("c", list({exact("x", 33), exact("w", 1, "deviceClassName: none")}))},
       "error: claim default/c, request x: adding 33 devices exceeds the claim limit of 32, with 0 "
       "already accounted for"},
      {"the smallest alternative",
       {many},
       {},
       {claim("c", list({exact("x", 20),
                         first_available("w", list({sub("big", 20), sub("small", 13)}))}))},
       "error: claim default/c, request w: adding 13 devices exceeds the claim limit of 32, with "
       "20 already accounted for"},
      {"each claim has its own limit",
       {many},
       {},
       {claim("a", exact("x", 20)), claim("b", exact("w", 20))},
       "a:" + taken("x", 1, 20) + " @n1\nb:" + taken("w", 21, 40) + " @n1"},
      {"all devices, but too many",
       {many},
       {},
       {claim("c", all("r"))},
       "error: claim default/c, request r: adding 40 devices exceeds the claim limit of 32, with 0 "
       "already accounted for"},
      {"the least that will do counts",
       {many},
       {},
       {claim("c", list({exact("x", 20),
                         first_available("w", list({sub("big", 20), sub("small", 12)}))}))},
       "c:" + taken("x", 1, 20) + taken("w/small", 21, 32) + " @n1"},
      {"where the first alternative is too much for what follows",
       {many},
       {},
       {claim("c", list({first_available("w", list({sub("big", 20), sub("small", 2)})),
                         exact("x", 20)}))},
       "c:" + taken("w/small", 1, 2) + taken("x", 3, 22) + " @n1"},
  });
}

TEST(Allocator, AllMeansEveryDeviceThatTheSelectorsName) {
  const std::string three = slice("s", on("n1"), devices(3));
  check({
      {"one",
       {slice("s", on("n1"), devices(1))},
       {},
       {claim("c", all("r"))},
       "c: r=drv/pool/d1 @n1"},
      {"several", {three}, {}, {claim("c", all("r"))}, "c:" + taken("r", 1, 3) + " @n1"},
      {"of what is selected",
       {slice("s", on("n1"), list({kSmall, kLarge}))},
       {},
       {claim("c", all("r", sized("large")))},
       "c: r=drv/pool/large @n1"},
      {"none is too few", {slice("s", on("n1"), "")}, {}, {claim("c", all("r"))}, "impossible"},
      {"no slices", {}, {}, {claim("c", all("r"))}, "impossible"},
      {"if somebody has one of them, none",
       {three},
       {"drv/pool/d2"},
       {claim("c", all("r"))},
       "impossible"},
      {"but for admin access",
       {three},
       {"drv/pool/d2"},
       {claim("c", all("r", "adminAccess: true"))},
       "c: r=drv/pool/d1(admin) r=drv/pool/d2(admin) r=drv/pool/d3(admin) @n1"},
      {"leaves nothing for others",
       {three},
       {},
       {claim("c", list({all("r"), exact("s")}))},
       "impossible"},
      {"nor do others for it",
       {three},
       {},
       {claim("c", list({exact("s"), all("r")}))},
       "impossible"},
      {"others may take what it does not name",
       {slice("s", on("n1"), list({kSmall, kLarge}))},
       {},
       {claim("c", list({exact("s"), all("r", sized("small"))}))},
       "c: s=drv/pool/large r=drv/pool/small @n1"},
      {"a broken constraint is an error",
       {slice("s", on("n1"), list({kSmall, kLarge}))},
       {},
       {claim("c", all("r"), "constraints: [{matchAttribute: drv/size}]")},
       "error: claim default/c, request r: cannot add device drv/pool/large because a claim "
       "constraint would not be satisfied"},
  });
}

TEST(Allocator, AdminAccessLooksOverShoulders) {
  const std::string one = slice("s", on("n1"), devices(1));
  const std::string admin = "adminAccess: true";
  AllocatorFeatures off;
  off.admin_access = false;
  check({
      {"a device that somebody has",
       {one},
       {"drv/pool/d1"},
       {claim("c", exact("r", 1, admin))},
       "c: r=drv/pool/d1(admin) @n1"},
      {"but once per claim",
       {one},
       {},
       {claim("c", list({exact("x", 1, admin), exact("w", 1, admin)}))},
       "impossible"},
      {"in another claim again",
       {one},
       {},
       {claim("a", exact("x", 1, admin)), claim("b", exact("w", 1, admin))},
       "a: x=drv/pool/d1(admin) @n1\nb: w=drv/pool/d1(admin) @n1"},
      {"after somebody of the same pod",
       {one},
       {},
       {claim("a", exact("x")), claim("b", exact("w", 1, admin))},
       "a: x=drv/pool/d1 @n1\nb: w=drv/pool/d1(admin) @n1"},
      {"not before",
       {one},
       {},
       {claim("a", exact("x", 1, admin)), claim("b", exact("w"))},
       "impossible"},
      {"said to be false is like not said",
       {one},
       {"drv/pool/d1"},
       {claim("c", exact("r", 1, "adminAccess: false"))},
       "impossible"},
      {"switched off, the word alone is an error",
       {one},
       {},
       {claim("c", exact("r", 1, "adminAccess: false"))},
       "error: claim default/c, request r: admin access is requested, but the feature is disabled",
       off},
  });
}

TEST(Allocator, TheFirstSubrequestThatLeavesRoomForTheRestWins) {
  const std::string two = slice("s", on("n1"), list({kSmall, kLarge}));
  const std::string large_or_small = first_available(
      "r", list({sub("large", 1, sized("large")), sub("small", 1, sized("small"))}));
  AllocatorFeatures off;
  off.prioritized_list = false;
  check({
      {"the first", {two}, {}, {claim("c", large_or_small)}, "c: r/large=drv/pool/large @n1"},
      {"the second, if the first is taken",
       {two},
       {"drv/pool/large"},
       {claim("c", large_or_small)},
       "c: r/small=drv/pool/small @n1"},
      {"neither",
       {two},
       {"drv/pool/large", "drv/pool/small"},
       {claim("c", large_or_small)},
       "impossible"},
      {"the second, if a later request needs the first",
       {two},
       {},
       {claim("c", list({large_or_small, exact("l", 1, sized("large"))}))},
       "c: r/small=drv/pool/small l=drv/pool/large @n1"},
      {"or a later claim",
       {two},
       {},
       {claim("a", large_or_small), claim("b", exact("l", 1, sized("large")))},
       "a: r/small=drv/pool/small @n1\nb: l=drv/pool/large @n1"},
      {"all devices",
       {two},
       {},
       {claim("c",
              first_available("r", list({sub_all("none", selector("false")), sub_all("all")})))},
       "c: r/all=drv/pool/small r/all=drv/pool/large @n1"},
      {"two lists",
       {two},
       {},
       {claim("c", list({large_or_small,
                         first_available("q", list({sub("l", 1, sized("large")), sub("x")}))}))},
       "c: r/large=drv/pool/large q/x=drv/pool/small @n1"},
      {"all would be too many",
       {slice("s", on("n1"), devices(33))},
       {},
       {claim("c", first_available("r", list({sub_all("all"), sub("one")})))},
       "c: r/one=drv/pool/d1 @n1"},
      {"a missing class of a later one is an error",
       {two},
       {},
       {claim("c", first_available("r", list({sub("a"), sub("b", 1, "deviceClassName: none")})))},
       "error: claim default/c, request b: could not retrieve device class none: "
       "deviceclass.resource.k8s.io \"none\" not found"},
      {"switched off",
       {two},
       {},
       {claim("c", large_or_small)},
       "error: claim default/c, request r: has subrequests, but the DRAPrioritizedList feature is "
       "disabled",
       off},
  });
}

}  // namespace
}  // namespace berth::plugins
