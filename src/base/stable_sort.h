// sort_stably: sorts a vector; elements that compare equal keep their order. (std::ranges::stable_sort
// of g++ 12 uses what clang calls deprecated.)
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

namespace berth {

template <typename Element, typename Less = std::ranges::less, typename Projection = std::identity>
void sort_stably(std::vector<Element>& elements, Less less = {}, Projection projection = {}) {
  std::vector<std::size_t> order(elements.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    if (std::invoke(less, std::invoke(projection, elements[a]),
                    std::invoke(projection, elements[b])))
      return true;
    if (std::invoke(less, std::invoke(projection, elements[b]),
                    std::invoke(projection, elements[a])))
      return false;
    return a < b;
  });
  std::vector<Element> sorted;
  sorted.reserve(elements.size());
  for (const std::size_t place : order) sorted.push_back(std::move(elements[place]));
  elements = std::move(sorted);
}

}  // namespace berth
