// sort_by: sorts by a key; elements with equal keys keep their order. (std::ranges::stable_sort of
// g++ 12 uses what clang calls deprecated.)
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace berth::explain {

template <typename Element, typename Key>
void sort_by(std::vector<Element>& elements, Key key) {
  std::vector<std::pair<decltype(key(elements.front())), std::size_t>> order;
  for (std::size_t i = 0; i < elements.size(); ++i) order.emplace_back(key(elements[i]), i);
  std::ranges::sort(order);
  std::vector<Element> sorted;
  sorted.reserve(elements.size());
  for (const auto& [of_element, place] : order) sorted.push_back(std::move(elements[place]));
  elements = std::move(sorted);
}

}  // namespace berth::explain
