#include "app/live_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <utility>

#include "berth/resources.h"
#include "control_plane/controller.h"
#include "memapi/json_edit.h"

namespace berth::app {
namespace {

constexpr std::size_t kRecent = 8;
constexpr std::size_t kMostNodes = 24;
constexpr Duration kDrawInterval = std::chrono::milliseconds(500);
constexpr Duration kSummaryInterval = std::chrono::seconds(10);

std::int64_t milli_cpu(const JsonValue& amounts) {
  const Result<Quantity> cpu = Quantity::parse(memapi::text_at(amounts, "cpu"));
  return cpu ? cpu->milli_value() : 0;
}

std::string shortened(std::string_view text, std::size_t length) {
  if (text.size() <= length) return std::string(text);
  return std::string(text.substr(0, length - 3)) + "...";
}

}  // namespace

LiveSummary::LiveSummary(memapi::LocalClient& api, std::ostream& out, std::size_t columns)
    : api_(api), out_(out), columns_(columns) {
  pods_following_ = api_.follow(memapi::resource_of("pods"),
                                [this](const memapi::Change& change) { pod_changed(change); });
  nodes_following_ = api_.follow(memapi::resource_of("nodes"),
                                 [this](const memapi::Change& change) { node_changed(change); });
}

LiveSummary::~LiveSummary() = default;

void LiveSummary::start() {
  shown_ = true;
  redraw_later();
}

void LiveSummary::pod_changed(const memapi::Change& change) {
  const std::string key = control_plane::key_of(*change.object);
  if (change.type == memapi::ChangeType::kDeleted) {
    pods_.erase(key);
    return;
  }
  const JsonValue tree = change.object->tree();
  PodLine& line = pods_[key];
  line.node = memapi::text_at(tree, "spec.nodeName");
  line.milli_cpu = 0;
  for (const JsonValue& container : memapi::items_at(tree, "spec.containers"))
    if (const JsonValue* requests = memapi::at(container, "resources.requests"))
      line.milli_cpu += milli_cpu(*requests);
  const JsonValue* annotations = memapi::at(tree, "metadata.annotations");
  const JsonValue* owner = control_plane::controller_of(tree);
  line.finite = (memapi::is_object(annotations) && annotations->find("berth/run-for")) ||
                (owner != nullptr && memapi::text_at(*owner, "kind") == "Job");
  const std::string_view phase = memapi::text_at(tree, "status.phase");
  line.why.clear();
  for (const JsonValue& condition : memapi::items_at(tree, "status.conditions"))
    if (memapi::text_at(condition, "type") == "PodScheduled")
      line.why = memapi::text_at(condition, "message");
  if (phase == "Succeeded" || phase == "Failed") {
    line.state = State::kEnded;
  } else if (control_plane::is_terminating(tree)) {
    line.state = State::kEnding;
  } else if (phase == "Running") {
    line.state = State::kRunning;
  } else if (!line.node.empty()) {
    line.state = State::kStarting;
  } else if (!memapi::items_at(tree, "spec.schedulingGates").empty()) {
    line.state = State::kGated;
  } else {
    line.state = State::kPending;
  }
}

void LiveSummary::node_changed(const memapi::Change& change) {
  if (change.type == memapi::ChangeType::kDeleted) {
    nodes_.erase(change.object->name);
    return;
  }
  const JsonValue tree = change.object->tree();
  NodeLine& line = nodes_[change.object->name];
  const JsonValue* allocatable = memapi::at(tree, "status.allocatable");
  line.milli_cpu = allocatable != nullptr ? milli_cpu(*allocatable) : 0;
  const JsonValue* labels = memapi::at(tree, "metadata.labels");
  const JsonValue* zone =
      memapi::is_object(labels) ? labels->find("topology.kubernetes.io/zone") : nullptr;
  line.zone = zone != nullptr ? zone->text : "";
}

std::size_t LiveSummary::count(State state) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(pods_, [&](const auto& entry) { return entry.second.state == state; }));
}

bool LiveSummary::room_to_come() const {
  return std::ranges::any_of(pods_, [](const auto& entry) {
    return entry.second.finite && entry.second.state == State::kRunning;
  });
}

std::size_t LiveSummary::in_motion() const {
  return count(State::kStarting) + count(State::kEnding);
}

void LiveSummary::say(std::string line) {
  line = fmt::format("{:>7.1f}s  {}",
                     std::chrono::duration<double>(api_.loop().now().since_start).count(), line);
  if (shown_ && !on_terminal()) {
    out_ << line << '\n';
    out_.flush();
    return;
  }
  recent_.push_back(std::move(line));
  if (recent_.size() > kRecent) recent_.pop_front();
}

void LiveSummary::bound(const Pod& pod, std::string_view node, std::int32_t attempts) {
  ++scheduled_;
  say(attempts > 1 ? fmt::format("{} to {}, at attempt {}", pod.full_name(), node, attempts)
                   : fmt::format("{} to {}", pod.full_name(), node));
}

void LiveSummary::failed(const Pod& pod, const Outcome& outcome) {
  ++failures_;
  say(fmt::format("{} waits: {}", pod.full_name(), outcome.message()));
}

void LiveSummary::preempted(const Pod& victim, const Pod& preemptor, std::string_view node) {
  ++preemptions_;
  say(fmt::format("{} gives way to {} on {}", victim.full_name(), preemptor.full_name(), node));
}

void LiveSummary::internal_error(std::string_view message) {
  say(fmt::format("trouble: {}", message));
}

std::string LiveSummary::counts_line() const {
  return fmt::format(
      "{} nodes, {} pods: {} running, {} starting, {} pending, {} gated, {} ending, {} ended; "
      "{} scheduled, {} failed attempts, {} preempted",
      nodes_.size(), pods_.size(), count(State::kRunning), count(State::kStarting),
      count(State::kPending), count(State::kGated), count(State::kEnding), count(State::kEnded),
      scheduled_, failures_, preemptions_);
}

std::string LiveSummary::nodes_picture() const {
  struct Use {
    std::int64_t milli_cpu = 0;
    std::size_t pods = 0;
  };
  std::map<std::string, Use> uses;
  for (const auto& [key, pod] : pods_) {
    if (pod.node.empty() || pod.state == State::kEnded) continue;
    uses[pod.node].milli_cpu += pod.milli_cpu;
    ++uses[pod.node].pods;
  }
  std::string text;
  std::size_t lines = 0;
  for (const auto& [name, node] : nodes_) {
    if (++lines > kMostNodes) {
      text += fmt::format("  and {} more\n", nodes_.size() - kMostNodes);
      break;
    }
    const Use& use = uses[name];
    const std::int64_t tenths =
        node.milli_cpu > 0 ? std::clamp<std::int64_t>(use.milli_cpu * 20 / node.milli_cpu, 0, 20)
                           : 0;
    text += fmt::format("  {:<16} {:<10} [{:<20}] {:>5.2f}/{:<5.2f} cpu {:>4} pods\n",
                        shortened(name, 16), shortened(node.zone, 10),
                        std::string(static_cast<std::size_t>(tenths), '#'),
                        static_cast<double>(use.milli_cpu) / 1000.0,
                        static_cast<double>(node.milli_cpu) / 1000.0, use.pods);
  }
  return text;
}

void LiveSummary::draw() {
  if (!on_terminal()) {
    say(counts_line());
    return;
  }
  // A line that is longer than the terminal is wide would become two.
  std::string picture;
  const auto add = [&](std::string_view line) {
    picture += shortened(line, std::max<std::size_t>(columns_, 20) - 1) + "\n";
  };
  add(counts_line());
  const std::string nodes = nodes_picture();
  for (std::size_t begin = 0; begin < nodes.size();) {
    const std::size_t end = nodes.find('\n', begin);
    add(std::string_view(nodes).substr(begin, end - begin));
    begin = end + 1;
  }
  for (const std::string& line : recent_) add(line);
  // Up to where the last picture began, and over it.
  if (drawn_lines_ > 0) out_ << fmt::format("\x1b[{}A\x1b[J", drawn_lines_);
  drawn_lines_ = static_cast<std::size_t>(std::ranges::count(picture, '\n'));
  out_ << picture;
  out_.flush();
}

void LiveSummary::redraw_later() {
  if (on_terminal()) draw();
  auto redraw = lifetime_.guard([this] {
    if (!on_terminal()) draw();
    redraw_later();
  });
  api_.loop().after(on_terminal() ? kDrawInterval : kSummaryInterval, std::move(redraw),
                    TimerKind::kHousekeeping);
}

void LiveSummary::finish() {
  if (!shown_) return;
  pods_following_->catch_up();
  if (on_terminal()) draw();
  shown_ = false;
  out_ << "\n" << counts_line() << "\n";
  if (!on_terminal()) out_ << nodes_picture();
  for (const auto& [key, pod] : pods_) {
    if (pod.state != State::kPending && pod.state != State::kGated) continue;
    out_ << fmt::format("  {} is pending: {}\n", key, pod.why.empty() ? "not tried yet" : pod.why);
  }
  out_.flush();
}

}  // namespace berth::app
