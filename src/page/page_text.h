// The page's text around its policy and its data; page_text.cc is made by scripts/make_page.py.
#pragma once

#include <string_view>

namespace berth::page {

extern const std::string_view kBeforePolicy;
extern const std::string_view kPolicy;  // of a page that asks nobody for anything
extern const std::string_view kBeforeData;
extern const std::string_view kAfterData;

}  // namespace berth::page
