#include "app/ui_command.h"

#include <fmt/format.h>

#include <csignal>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>

#include "app/command_client.h"
#include "app/ui_proxy.h"
#include "berth/random.h"

namespace berth::app {
namespace {

constexpr Duration kUiTimeout = std::chrono::seconds(30);

}  // namespace

Result<void> run_ui(const UiOptions& options, std::ostream& out, std::ostream& err) {
  Result<kube::ClientConfig> config = scheduler_client_config(options.address, err);
  if (!config) return fail(config.error());
  const std::string server = config->server;
  CommandClient client(std::move(*config), kUiTimeout, {SIGINT, SIGTERM});
  // What does not work is said here rather than in the browser.
  const std::optional<kube::ApiResult> page = client.wait_for(client.api().call(
      {.method = "GET", .path = "/ui/", .body = {}, .content_type = {}, .accept = "text/html"}));
  if (!page) return {};  // a signal came first
  if (!*page)
    return fail(explain_refusal(page->error(), server, "nonResourceURLs /ui/*, verb get",
                                "has no page /ui/"));
  Result<std::unique_ptr<UiProxy>> proxy =
      UiProxy::start(client.loop(), client.api(), Random(seed_from_system()), options.port);
  if (!proxy) return fail(proxy.error());
  out << fmt::format(
      "{}\n\nOpen this link in a browser on this machine. It works once. Ctrl-C ends it.\n",
      (*proxy)->link());
  out.flush();
  client.run();
  return {};
}

}  // namespace berth::app
