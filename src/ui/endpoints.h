// What a browser asks for under /ui/: the live page and what it shows. Who may ask is decided before.
//
//   GET /ui/                      the page: HTML
//   GET /ui/data/snapshot         how all stands (LiveFeed::snapshot): JSON
//   GET /ui/data/changes?since=C  what has happened since; 410: take a snapshot
//
// The page also asks for /explain and /debug/waiting-pods beside /ui/. Any thread.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "net/http_message.h"
#include "ui/live_feed.h"

namespace berth::ui {

// Whether the path, unescaped, is one of these.
bool is_ui_path(std::string_view path);

class Endpoints {
 public:
  // `title` says which scheduler it is. `feed` outlives this.
  Endpoints(LiveFeed& feed, std::string_view title);

  // Answers once, now or later. `path` is the request's, unescaped.
  void answer(const net::HttpRequest& request, std::string_view path,
              std::function<void(net::HttpResponse)> respond) const;

 private:
  net::HttpResponse page() const;

  LiveFeed& feed_;
  const std::string html_;
};

}  // namespace berth::ui
