// What is spoken on a connection, without the connection: every byte is counted.
#include "net/http_protocol.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nghttp2/nghttp2.h>

#include <map>

#include "base/testing/names.h"
#include "net/freed.h"

namespace berth::net {
namespace {

using End = HttpProtocol::End;

// A server without sockets, whose handler keeps all requests.
struct Bench {
  struct Asked {
    HttpRequest request;
    std::shared_ptr<HttpResponder> responder;
  };

  explicit Bench(HttpLimits limits = {})
      : state(options_with(limits), [this](HttpRequest request, auto responder) {
          asked.push_back({std::move(request), std::move(responder)});
        }) {
    state.error_response = [](int status, std::string message) {
      return HttpResponse{.status = status, .headers = {}, .body = std::move(message)};
    };
  }
  static HttpServerOptions options_with(HttpLimits limits) {
    HttpServerOptions options;
    options.limits = limits;
    return options;
  }
  HttpLink link() {
    return {.state = state,
            .peer = [] { return HttpPeer(); },
            .set_busy = [this](bool now) { busy = now; },
            .wake = [this](std::int32_t stream) { woken.push_back(stream); }};
  }

  std::vector<std::int32_t> woken;
  bool busy = false;
  HttpServerState state;
  std::vector<Asked> asked;  // the first to go: whoever is not answered wakes the connection
};

// ---- HTTP/1.1 -----------------------------------------------------------------------------------

TEST(Http1Protocol, LittleIsReadOfABodyThatNobodyWants) {
  Bench bench;
  const auto protocol = make_http1_protocol(bench.link());
  protocol->receive("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3000000\r\n\r\n");
  ASSERT_EQ(bench.asked.size(), 1u);
  EXPECT_TRUE(bench.busy);
  std::size_t taken = 0;
  for (; protocol->wants_input() && taken < 3'000'000; taken += 1024)
    protocol->receive(std::string(1024, 'x'));
  EXPECT_EQ(taken, 16u << 10);
  bench.asked[0].responder->respond({401, {}, "no"});
  protocol->answered(0);
  EXPECT_FALSE(bench.busy);
  const std::string answer = protocol->next_output();
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 401 "));
  EXPECT_THAT(answer, HasSubstr("Connection: close\r\n"));
  EXPECT_FALSE(protocol->wants_input());
  protocol->sent(answer.size());
  EXPECT_EQ(protocol->end(), End::kFinished);
}

// A client that opens many watches and reads none of them.
TEST(Http1Protocol, StreamsThatNobodyReadsAreBoundedInAll) {
  HttpLimits limits;
  limits.all_waiting_bytes = 100'000;
  Bench bench(limits);
  constexpr std::size_t kStreams = 50;
  std::vector<std::unique_ptr<HttpProtocol>> protocols;
  for (std::size_t i = 0; i <= kStreams; ++i) {
    protocols.push_back(make_http1_protocol(bench.link()));
    protocols.back()->receive("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    bench.asked[i].responder->begin(200, {});
  }
  std::size_t cut = 0;
  for (int event = 0; event < 100; ++event) {
    for (std::size_t i = 0; i < kStreams; ++i) {
      if (bench.asked[i].responder->write(std::string(500, 'x'))) continue;
      protocols[i]->answered(0);
      cut += protocols[i]->end() == End::kBroken ? 1 : 0;
    }
    EXPECT_LE(bench.state.stream_budget->used(), limits.all_waiting_bytes);
    // Whoever reads goes on: there is always something free.
    ASSERT_TRUE(bench.asked[kStreams].responder->write(std::string(500, 'x')));
    protocols[kStreams]->answered(0);
    for (;;) {
      const std::string output = protocols[kStreams]->next_output();
      if (output.empty()) break;
      protocols[kStreams]->sent(output.size());
    }
  }
  EXPECT_GT(cut, 0U);
  for (const auto& protocol : protocols) protocol->lost();
  EXPECT_EQ(bench.state.stream_budget->used(), 0U);
}

TEST(Http1Protocol, AHeadHasALimitHoweverItComes) {
  HttpLimits limits;
  limits.head_bytes = 64 << 10;
  Bench bench(limits);
  const auto protocol = make_http1_protocol(bench.link());
  std::size_t taken = 0;
  protocol->receive("GET / HTTP/1.1\r\n");
  for (; protocol->wants_input() && taken < 3'000'000; taken += 1024)
    protocol->receive("X: " + std::string(1019, 'x') + "\r\n");
  EXPECT_EQ(taken, 64u << 10);
  EXPECT_THAT(protocol->next_output(), StartsWith("HTTP/1.1 431 "));
  EXPECT_EQ(protocol->end(), End::kFinished);
  EXPECT_THAT(bench.asked, IsEmpty());
}

TEST(Http1Protocol, PatienceDependsOnWhoseTurnItIs) {
  HttpLimits limits;
  Bench bench(limits);
  const auto protocol = make_http1_protocol(bench.link());
  EXPECT_EQ(protocol->patience()->limit, limits.head_timeout);
  protocol->receive("GET / HT");
  const std::uint64_t begun = protocol->patience()->turn;
  protocol->receive("TP/1.1\r\n");
  EXPECT_EQ(protocol->patience()->turn, begun) << "a slow head is not given more time";
  protocol->receive("Host: a\r\n\r\n");
  EXPECT_FALSE(protocol->patience()) << "it is ours";
  bench.asked[0].responder->respond({200, {}, "ok"});
  protocol->answered(0);
  protocol->sent(protocol->next_output().size());
  EXPECT_EQ(protocol->patience()->limit, limits.idle_timeout);
  protocol->timed_out();
  EXPECT_EQ(protocol->end(), End::kFinished);
}

// ---- HTTP/2 -------------------------------------------------------------------------------------

// A client of the same library, and what it was answered.
class Http2Talk {
 public:
  struct Answer {
    std::string status, body;
    HttpHeaders headers;
    bool complete = false;
    std::optional<std::uint32_t> reset;
  };

  explicit Http2Talk(Bench& bench) : bench_(bench), protocol_(make_http2_protocol(bench.link())) {
    nghttp2_session_callbacks* callbacks = nullptr;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_header_callback(
        callbacks, [](nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
                      std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
                      std::uint8_t, void* user) {
          Answer& answer = self(user).answers[frame->hd.stream_id];
          if (text(name, name_size) == ":status")
            answer.status += (answer.status.empty() ? "" : " ") + text(value, value_size);
          else
            answer.headers.add(text(name, name_size), text(value, value_size));
          return 0;
        });
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(
        callbacks, [](nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* data,
                      std::size_t size, void* user) {
          self(user).answers[id].body += text(data, size);
          return 0;
        });
    nghttp2_session_callbacks_set_on_frame_recv_callback(
        callbacks, [](nghttp2_session*, const nghttp2_frame* frame, void* user) {
          Answer& answer = self(user).answers[frame->hd.stream_id];
          if ((frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0 &&
              (frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA))
            answer.complete = true;
          if (frame->hd.type == NGHTTP2_RST_STREAM) answer.reset = frame->rst_stream.error_code;
          if (frame->hd.type == NGHTTP2_GOAWAY) self(user).goodbye = frame->goaway.error_code;
          return 0;
        });
    nghttp2_session* made = nullptr;
    nghttp2_session_client_new(&made, callbacks, this);
    session_.reset(made);
    nghttp2_session_callbacks_del(callbacks);
    nghttp2_submit_settings(made, NGHTTP2_FLAG_NONE, nullptr, 0);
  }

  nghttp2_session* session() { return session_.get(); }
  HttpProtocol& protocol() { return *protocol_; }

  std::int32_t ask(const std::string& method, const std::string& path,
                   const std::vector<std::pair<std::string, std::string>>& headers = {},
                   std::optional<std::string> body = std::nullopt) {
    std::vector<nghttp2_nv> fields = {pair(":method", method), pair(":scheme", "https"),
                                      pair(":authority", "a:1"), pair(":path", path)};
    for (const auto& [name, value] : headers) fields.push_back(pair(name, value));
    nghttp2_data_provider provider{};
    provider.source.ptr = this;
    provider.read_callback = [](nghttp2_session*, std::int32_t id, std::uint8_t* into,
                                std::size_t size, std::uint32_t* flags, nghttp2_data_source* source,
                                void*) -> ssize_t {
      std::string& left = self(source->ptr).bodies_[id];
      const std::size_t now = std::min(size, left.size());
      std::copy_n(left.data(), now, into);
      left.erase(0, now);
      self(source->ptr).body_sent[id] += now;
      if (left.empty()) *flags |= NGHTTP2_DATA_FLAG_EOF;
      return static_cast<ssize_t>(now);
    };
    const std::int32_t id = nghttp2_submit_request(session_.get(), nullptr, fields.data(),
                                                   fields.size(), body ? &provider : nullptr, this);
    if (body) bodies_[id] = std::move(*body);
    return id;
  }

  // Carries bytes both ways, and answers to their streams, until both sides are silent.
  void run() {
    for (bool moved = true; moved;) {
      moved = false;
      const std::uint8_t* data = nullptr;
      while (protocol_->wants_input()) {
        const ssize_t size = nghttp2_session_mem_send(session_.get(), &data);
        if (size <= 0) break;
        protocol_->receive(text(data, static_cast<std::size_t>(size)));
        moved = true;
      }
      for (const std::int32_t stream : std::exchange(bench_.woken, {})) {
        protocol_->answered(stream);
        moved = true;
      }
      if (protocol_->end() == End::kBroken) return;
      for (std::string out; !(out = protocol_->next_output()).empty();) {
        nghttp2_session_mem_recv(session_.get(), reinterpret_cast<const std::uint8_t*>(out.data()),
                                 out.size());
        protocol_->sent(out.size());
        moved = true;
      }
    }
  }

  // A frame as bytes, whatever it means.
  static std::string frame(std::uint8_t type, std::uint8_t flags, std::int32_t stream,
                           std::string_view payload) {
    const auto number = static_cast<std::uint32_t>(stream);
    const std::size_t size = payload.size();
    std::string bytes;
    for (const int shift : {16, 8, 0}) bytes += static_cast<char>(size >> shift & 0xff);
    bytes += static_cast<char>(type);
    bytes += static_cast<char>(flags);
    for (const int shift : {24, 16, 8, 0}) bytes += static_cast<char>(number >> shift & 0xff);
    return bytes.append(payload);
  }

  std::map<std::int32_t, Answer> answers;
  std::map<std::int32_t, std::size_t> body_sent;
  std::optional<std::uint32_t> goodbye;

 private:
  static Http2Talk& self(void* user) { return *static_cast<Http2Talk*>(user); }
  static std::string text(const std::uint8_t* data, std::size_t size) {
    return {reinterpret_cast<const char*>(data), size};
  }
  static nghttp2_nv pair(std::string_view name, std::string_view value) {
    const auto bytes = [](std::string_view from) {
      return const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(from.data()));
    };
    return {bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
  }

  Bench& bench_;
  std::unique_ptr<HttpProtocol> protocol_;
  std::unique_ptr<nghttp2_session, Freed<nghttp2_session_del>> session_;
  std::map<std::int32_t, std::string> bodies_;
};

TEST(Http2Protocol, RequestsAreAnsweredInAnyOrder) {
  Bench bench;
  Http2Talk talk(bench);
  const std::int32_t first = talk.ask("GET", "/a?b=c", {{"x-one", "1"}});
  const std::int32_t second = talk.ask("HEAD", "/d");
  talk.run();
  ASSERT_EQ(bench.asked.size(), 2u);
  const HttpRequest& request = bench.asked[0].request;
  EXPECT_EQ(request.method, "GET");
  EXPECT_EQ(request.target, "/a?b=c");
  EXPECT_THAT(std::vector(request.headers.begin(), request.headers.end()),
              ElementsAre(Pair("Host", "a:1"), Pair("x-one", "1")));
  EXPECT_TRUE(bench.busy);
  bench.asked[1].responder->respond({200, {{"X-Two", "2\r\nevil: 1"}}, "four"});
  bench.asked[0].responder->respond({404, {{"Connection", "close"}}, "nothing here"});
  talk.run();
  EXPECT_FALSE(bench.busy);
  EXPECT_EQ(talk.answers[first].status, "404");
  EXPECT_EQ(talk.answers[first].body, "nothing here");
  EXPECT_FALSE(talk.answers[first].headers.find("connection"));
  EXPECT_TRUE(talk.answers[first].complete);
  EXPECT_EQ(talk.answers[second].headers.find("content-length"), "4");
  EXPECT_EQ(talk.answers[second].headers.find("x-two"), "2");
  EXPECT_FALSE(talk.answers[second].headers.find("evil"));
  EXPECT_EQ(talk.answers[second].body, "");
  EXPECT_TRUE(talk.answers[second].complete);
}

TEST(Http2Protocol, StreamsArriveAsTheyAreWrittenAndEnd) {
  Bench bench;
  Http2Talk talk(bench);
  const std::int32_t id = talk.ask("GET", "/watch");
  talk.run();
  const auto responder = std::exchange(bench.asked[0].responder, nullptr);
  responder->begin(200, {});
  EXPECT_TRUE(responder->write("one"));
  talk.run();
  EXPECT_EQ(talk.answers[id].body, "one");
  EXPECT_TRUE(responder->write("two"));
  talk.run();
  EXPECT_EQ(talk.answers[id].body, "onetwo");
  EXPECT_FALSE(talk.answers[id].complete);
  responder->end();
  talk.run();
  EXPECT_TRUE(talk.answers[id].complete);
}

TEST(Http2Protocol, AStreamThatIsDroppedDoesNotLookComplete) {
  Bench bench;
  Http2Talk talk(bench);
  const std::int32_t id = talk.ask("GET", "/watch");
  talk.run();
  auto responder = std::exchange(bench.asked[0].responder, nullptr);
  responder->begin(200, {});
  talk.run();
  responder.reset();
  talk.run();
  EXPECT_FALSE(talk.answers[id].complete);
  EXPECT_EQ(talk.answers[id].reset, std::uint32_t{NGHTTP2_INTERNAL_ERROR});
  EXPECT_FALSE(bench.busy);
}

TEST(Http2Protocol, LittleIsReadOfABodyThatNobodyWants) {
  Bench bench;
  Http2Talk talk(bench);
  for (int i = 0; i < 30; ++i) talk.ask("POST", "/", {}, std::string(100'000, 'x'));
  talk.run();
  ASSERT_EQ(bench.asked.size(), 30u);
  std::size_t sent = 0;
  for (const auto& [id, bytes] : talk.body_sent) sent += bytes;
  EXPECT_LE(sent, 65'535u) << "what a connection's window is at first, for all streams";
  for (const auto& asked : bench.asked) asked.responder->respond({401, {}, "no"});
  talk.run();
  for (auto& [id, answer] : talk.answers) {
    if (id == 0) continue;
    EXPECT_EQ(answer.status, "401");
    EXPECT_EQ(answer.reset, std::uint32_t{NGHTTP2_NO_ERROR}) << "it need not send the rest";
  }
  EXPECT_FALSE(talk.goodbye);
}

TEST(Http2Protocol, ABodyIsReadWhenItIsWantedUpToItsLimit) {
  Bench bench;
  Http2Talk talk(bench);
  const std::string body(3 << 20, 'x');
  const std::int32_t good = talk.ask("PUT", "/", {{"expect", "100-continue"}}, body);
  const std::int32_t large = talk.ask("PUT", "/", {}, std::string(5000, 'x'));
  const std::int32_t none = talk.ask("PUT", "/");
  talk.run();
  std::string got;
  bench.asked[0].responder->read_body(body.size(), [&](std::string read) {
    got = std::move(read);
    bench.asked[0].responder->respond({200, {}, "ok"});
  });
  bench.asked[1].responder->read_body(4999, [&](const std::string&) { FAIL(); });
  bench.asked[2].responder->read_body(10, [&](const std::string& read) {
    bench.asked[2].responder->respond({200, {}, "<" + read + ">"});
  });
  talk.run();
  EXPECT_EQ(got.size(), body.size());
  EXPECT_EQ(talk.answers[good].status, "200");
  EXPECT_EQ(talk.answers[large].status, "413");
  EXPECT_EQ(talk.answers[none].body, "<>");
}

TEST(Http2Protocol, LargeAnswersGoAsFastAsTheClientTakesThem) {
  Bench bench;
  Http2Talk talk(bench);
  const std::int32_t id = talk.ask("GET", "/");
  talk.run();
  bench.asked[0].responder->respond({200, {}, std::string(1 << 20, 'x')});
  talk.run();
  EXPECT_EQ(talk.answers[id].body.size(), std::size_t{1} << 20);
  EXPECT_TRUE(talk.answers[id].complete);
}

TEST(Http2Protocol, AClientThatDoesNotTakeItsAnswerIsGivenUp) {
  HttpLimits limits;
  Bench bench(limits);
  Http2Talk talk(bench);
  const nghttp2_settings_entry no_window = {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 0};
  nghttp2_submit_settings(talk.session(), NGHTTP2_FLAG_NONE, &no_window, 1);
  talk.ask("GET", "/healthz");
  talk.run();
  bench.asked[0].responder->respond({200, {}, "ok"});
  talk.run();
  ASSERT_TRUE(talk.protocol().patience());
  EXPECT_EQ(talk.protocol().patience()->limit, limits.write_timeout);
  EXPECT_FALSE(bench.busy) << "another may have its place";
  talk.protocol().timed_out();
  EXPECT_EQ(talk.protocol().end(), End::kBroken);
}

TEST(Http2Protocol, AClientThatTakesItsRequestBackIsGone) {
  Bench bench;
  Http2Talk talk(bench);
  const std::int32_t id = talk.ask("GET", "/");
  talk.run();
  bool gone = false;
  bench.asked[0].responder->on_gone([&] { gone = true; });
  nghttp2_submit_rst_stream(talk.session(), NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL);
  talk.run();
  EXPECT_TRUE(gone);
  EXPECT_FALSE(bench.busy);
  bench.asked[0].responder->respond({200, {}, "too late"});
  talk.run();
  EXPECT_FALSE(talk.goodbye);
}

TEST(Http2Protocol, IdleConnectionsEndWithAGoodbye) {
  HttpLimits limits;
  Bench bench(limits);
  Http2Talk talk(bench);
  talk.ask("GET", "/");
  talk.run();
  EXPECT_FALSE(talk.protocol().patience()) << "the answer is our business";
  bench.asked[0].responder->respond({200, {}, "ok"});
  talk.run();
  EXPECT_EQ(talk.protocol().patience()->limit, limits.idle_timeout);
  const std::uint64_t turn = talk.protocol().patience()->turn;
  nghttp2_submit_ping(talk.session(), NGHTTP2_FLAG_NONE, nullptr);
  talk.run();
  EXPECT_EQ(talk.protocol().patience()->turn, turn) << "a ping is no request";
  talk.protocol().timed_out();
  talk.run();
  EXPECT_EQ(talk.goodbye, std::uint32_t{NGHTTP2_NO_ERROR});
  EXPECT_EQ(talk.protocol().end(), End::kFinished);
}

TEST(Http2Protocol, DrainingLetsAnswersEndAndTakesNoMore) {
  Bench bench;
  Http2Talk talk(bench);
  const std::int32_t slow = talk.ask("GET", "/slow");
  const std::int32_t watch = talk.ask("GET", "/watch");
  talk.run();
  bench.asked[1].responder->begin(200, {});
  talk.protocol().drain();
  talk.run();
  EXPECT_EQ(talk.goodbye, std::uint32_t{NGHTTP2_NO_ERROR});
  EXPECT_TRUE(talk.answers[watch].complete);
  EXPECT_EQ(talk.protocol().end(), End::kOpen);
  bench.asked[0].responder->respond({200, {}, "at last"});
  talk.run();
  EXPECT_EQ(talk.answers[slow].body, "at last");
  EXPECT_EQ(talk.protocol().end(), End::kFinished);
}

// ---- HTTP/2 and its floods

TEST(Http2Protocol, StreamsAreLimited) {
  HttpLimits limits;
  limits.streams = 10;
  Bench bench(limits);
  Http2Talk talk(bench);
  for (int i = 0; i < 50; ++i) talk.ask("GET", "/");  // before it has heard of the limit
  talk.run();
  EXPECT_LE(bench.asked.size(), 10u);
}

TEST(Http2Protocol, AHeadHasALimit) {
  HttpLimits limits;
  limits.head_bytes = 20 << 10;
  Bench bench(limits);
  Http2Talk talk(bench);
  std::vector<std::pair<std::string, std::string>> headers;
  for (int i = 0; i < 20; ++i) headers.emplace_back("x", std::string(1500, 'x'));
  const std::int32_t large = talk.ask("GET", "/", headers);
  headers.resize(10);
  const std::int32_t good = talk.ask("GET", "/", headers);
  talk.run();
  EXPECT_EQ(talk.answers[large].status, "431");
  ASSERT_EQ(bench.asked.size(), 1u);
  bench.asked[0].responder->respond({200, {}, "ok"});
  talk.run();
  EXPECT_EQ(talk.answers[good].status, "200");
}

TEST(Http2Protocol, StreamsThatAreResetAtOnceEndTheConnection) {
  Bench bench;
  Http2Talk talk(bench);
  talk.run();
  int asked = 0;
  for (; !talk.goodbye && asked < 100'000; ++asked) {
    const std::int32_t id = talk.ask("GET", "/");
    talk.run();
    bench.asked.clear();
    nghttp2_submit_rst_stream(talk.session(), NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL);
    talk.run();
  }
  EXPECT_LE(asked, 1000);
  EXPECT_EQ(talk.goodbye, std::uint32_t{NGHTTP2_ENHANCE_YOUR_CALM});
  EXPECT_EQ(talk.protocol().end(), End::kFinished);
}

// Feeds frames until nothing more is wanted; says how many.
int flood(Http2Talk& talk, const std::string& frame, int most) {
  talk.run();
  int sent = 0;
  for (; sent < most && talk.protocol().wants_input(); ++sent) talk.protocol().receive(frame);
  return sent;
}

TEST(Http2Protocol, FramesThatLeadToNothingEndTheConnection) {
  const auto frame = Http2Talk::frame;
  const std::string ping = frame(NGHTTP2_PING, 0, 0, "12345678");
  const std::string settings = frame(NGHTTP2_SETTINGS, 0, 0, "");
  const std::string priority = frame(NGHTTP2_PRIORITY, 0, 1, std::string("\0\0\0\0\0", 5));
  const std::string window = frame(NGHTTP2_WINDOW_UPDATE, 0, 0, std::string("\0\0\0\1", 4));
  for (const std::string& bytes : {ping, settings, priority, window}) {
    Bench bench;
    Http2Talk talk(bench);
    talk.run();
    int sent = 0;
    // This client reads what is answered, so that nothing waits.
    for (; sent < 100'000 && talk.protocol().end() == End::kOpen; ++sent) {
      talk.protocol().receive(bytes);
      while (!talk.protocol().next_output().empty()) {
      }
    }
    EXPECT_LE(sent, 10'001) << bytes;
  }
}

TEST(Http2Protocol, AnswersToFramesThatNobodyReadsAreFew) {
  Bench bench;
  Http2Talk talk(bench);
  const int pings = flood(talk, Http2Talk::frame(NGHTTP2_PING, 0, 0, "12345678"), 100'000);
  EXPECT_LE(pings, 1001);
}

TEST(Http2Protocol, AHeadInVeryManyFramesEndsTheConnection) {
  Bench bench;
  Http2Talk talk(bench);
  talk.run();
  talk.protocol().receive(Http2Talk::frame(NGHTTP2_HEADERS, 0, 1, "\x82"));
  const int sent = flood(talk, Http2Talk::frame(NGHTTP2_CONTINUATION, 0, 1, ""), 1000);
  EXPECT_LE(sent, 9);
  EXPECT_NE(talk.protocol().end(), End::kOpen);
}

TEST(Http2Protocol, WhatIsNotHttp2IsRefused) {
  Bench bench;
  const auto protocol = make_http2_protocol(bench.link());
  protocol->receive("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  while (!protocol->next_output().empty()) {
  }
  EXPECT_NE(protocol->end(), End::kOpen);
  EXPECT_THAT(bench.asked, IsEmpty());
}

}  // namespace
}  // namespace berth::net
