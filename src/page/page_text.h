// The page's text before and after its data; page_text.cc is made by scripts/make_page.py.
#pragma once

#include <string_view>

namespace berth::page {

extern const std::string_view kBeforeData;
extern const std::string_view kAfterData;

}  // namespace berth::page
