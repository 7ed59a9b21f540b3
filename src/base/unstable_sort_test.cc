// The order that Go's sort.Slice gives; the rows were made with it.
#include "base/unstable_sort.h"

#include <gtest/gtest.h>

#include <vector>

namespace berth {
namespace {

struct Element {
  std::uint32_t key;
  int place;
};

// `count` elements with keys below `keys`, in an order that follows from both.
std::vector<Element> elements(int count, std::uint32_t keys) {
  std::vector<Element> made;
  std::uint32_t draw = static_cast<std::uint32_t>(count) * 7 + keys;
  for (int i = 0; i < count; ++i) {
    draw = draw * 1664525u + 1013904223u;
    made.push_back({(draw >> 16) % keys, i});
  }
  return made;
}

TEST(UnstableSort, LeavesEqualElementsWhereGoLeavesThem) {
  struct Row {
    int count;
    std::uint32_t keys;
    std::vector<int> places;
  };
  const Row rows[] = {
      {12, 3, {10, 0, 4, 8, 1, 2, 3, 5, 6, 7, 9, 11}},
      {14, 2, {9, 8, 2, 3, 7, 12, 4, 5, 1, 0, 10, 11, 6, 13}},
      {30, 1, {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14,
               15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29}},
      {51, 3, {20, 49, 46, 3,  45, 44, 41, 7,  40, 9,  10, 35, 30, 13, 0,  15, 23,
               22, 24, 12, 50, 47, 2,  5,  39, 34, 26, 32, 11, 14, 28, 31, 27, 33,
               25, 19, 36, 37, 38, 29, 8,  6,  42, 43, 16, 4,  17, 21, 48, 1,  18}},
      {100, 4, {0,  54, 53, 52, 99, 49, 47, 46, 63, 96, 65, 11, 67, 93, 38, 72, 34, 17, 32, 89,
                31, 80, 22, 12, 92, 87, 26, 27, 82, 88, 30, 20, 91, 33, 16, 74, 15, 71, 83, 69,
                55, 10, 8,  43, 44, 59, 97, 6,  57, 98, 50, 56, 3,  2,  1,  25, 19, 4,  58, 45,
                7,  61, 9,  42, 64, 41, 66, 40, 95, 94, 18, 90, 84, 73, 35, 28, 76, 79, 78, 77,
                29, 81, 75, 24, 36, 85, 86, 23, 21, 51, 37, 70, 14, 13, 39, 68, 62, 60, 5,  48}},
  };
  for (const Row& row : rows) {
    std::vector<Element> sorted = elements(row.count, row.keys);
    unstable_sort(std::span(sorted),
                  [](const Element& a, const Element& b) { return a.key > b.key; });
    std::vector<int> places;
    for (const Element& element : sorted) places.push_back(element.place);
    EXPECT_EQ(places, row.places) << row.count << " elements of " << row.keys << " keys";
  }
}

TEST(UnstableSort, SortsWhateverTheOrderWas) {
  for (int count = 0; count < 300; ++count)
    for (const std::uint32_t keys : {1u, 2u, 7u, 1000u}) {
      std::vector<Element> sorted = elements(count, keys);
      unstable_sort(std::span(sorted),
                    [](const Element& a, const Element& b) { return a.key < b.key; });
      EXPECT_TRUE(std::ranges::is_sorted(sorted, {}, &Element::key)) << count << " " << keys;
    }
}

}  // namespace
}  // namespace berth
