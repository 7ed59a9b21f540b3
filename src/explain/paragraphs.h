// Words in lines, for the tables of this room.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace berth::explain {

// How wide a table may be.
inline constexpr std::size_t kWidth = 100;

// Words after `head`, broken into lines; the lines after the first are indented.
std::string wrapped(const std::string& head, const std::vector<std::string>& words,
                    std::size_t indent = 6);
std::vector<std::string> words_of(const std::string& text);
// "a, b, c and 7 more", as words.
std::vector<std::string> listed(const std::vector<std::string>& names);
// "1 node", "3 nodes".
std::string plural(std::size_t count, std::string_view thing);

}  // namespace berth::explain
