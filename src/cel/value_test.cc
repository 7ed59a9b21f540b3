#include "cel/value.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace berth::cel {
namespace {

TEST(Map, NobodyCanChooseKeysThatShareABucket) {
  constexpr std::int64_t kBuckets = 541;  // a number of buckets that std::unordered_map has
  std::set<std::size_t> ints, doubles, times, addresses;
  for (std::int64_t i = 1; i <= kBuckets; ++i) {
    ints.insert(hash_key(Value::integer(i * kBuckets)) % kBuckets);
    doubles.insert(hash_key(Value::floating(static_cast<double>(i * kBuckets))) % kBuckets);
    times.insert(hash_key(Value::timestamp({0, static_cast<std::int32_t>(i), 0})) % kBuckets);
    IpAddress address;
    address.octets[3] = static_cast<std::uint8_t>(i);
    address.octets[2] = static_cast<std::uint8_t>(i >> 8);
    addresses.insert(hash_key(Value::ip(address)) % kBuckets);
  }
  // Of random ones 342 are expected.
  for (const auto* buckets : {&ints, &doubles, &times, &addresses})
    EXPECT_GT(buckets->size(), 250U);
}

TEST(Map, EqualKeysHaveEqualHashes) {
  EXPECT_EQ(hash_key(Value::floating(0.0)), hash_key(Value::floating(-0.0)));
  EXPECT_EQ(hash_key(Value::integer(7)), hash_key(Value::integer(7)));
  const Value list = Value::list(std::vector<Value>());
  const Value same = list;
  EXPECT_EQ(hash_key(list), hash_key(same));
}

}  // namespace
}  // namespace berth::cel
