// The page: what a browser shows of a cluster, as one HTML file. Its
// sources are in web/; scripts/make_page.py puts them together when berth is built. Any thread.
#pragma once

#include <string>
#include <string_view>

namespace berth::page {

// The file with `data` in it: JSON, the `PageData` of web/model.js. Whatever its strings contain, the
// browser reads them as data and not as HTML. The same data gives the same bytes.
std::string page_with(std::string_view data);

// The same page for a server to serve: it may send requests to that server, and to nobody else.
std::string live_page(std::string_view data);
// Its content security policy.
std::string live_policy();

}  // namespace berth::page
