#include "serve/cpu_profile.h"

#include <execinfo.h>
#include <sys/time.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <map>
#include <optional>
#include <protozero/pbf_writer.hpp>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <utility>

namespace berth::serve {
namespace {

constexpr int kSamplesPerSecond = 100;
constexpr std::int64_t kPeriodNanoseconds = 1'000'000'000 / kSamplesPerSecond;
constexpr std::size_t kMaxDepth = 64;
constexpr std::size_t kMaxSamples = 16384;  // of more, the first count

struct RawSample {
  std::atomic<int> depth = 0;  // 0: not written yet
  std::array<void*, kMaxDepth> frames;
};

struct SampleBuffer {
  std::atomic<std::size_t> taken = 0;
  std::array<RawSample, kMaxSamples> samples;
};

// A signal handler can only write to a global. Null: no profile is being taken.
std::atomic<SampleBuffer*> sampling = nullptr;
// Handlers at work, which the buffer must outlive.
std::atomic<int> handlers = 0;
// From start() until the samples are read.
std::atomic<bool> profiler_in_use = false;

// Reserves a place and writes the stack there; neither locks nor allocates.
void take_sample(int /*signal*/) {
  const int saved_errno = errno;
  handlers.fetch_add(1);
  if (SampleBuffer* buffer = sampling.load()) {
    const std::size_t place = buffer->taken.fetch_add(1);
    if (place < kMaxSamples) {
      RawSample& sample = buffer->samples[place];
      const int depth = ::backtrace(sample.frames.data(), static_cast<int>(kMaxDepth));
      sample.depth.store(depth, std::memory_order_release);
    }
  }
  handlers.fetch_sub(1);
  errno = saved_errno;
}

void set_timer(std::int64_t microseconds) {
  itimerval timer{};
  timer.it_interval.tv_usec = microseconds;
  timer.it_value = timer.it_interval;
  ::setitimer(ITIMER_PROF, &timer, nullptr);
}

std::optional<std::uint64_t> read_hex(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number, 16);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// A file's code in our address space.
struct Mapping {
  std::uint64_t start = 0;
  std::uint64_t limit = 0;
  std::uint64_t offset = 0;
  std::string_view file;
};

// "55d0a000-55d0b000 r-xp 00001000 08:01 123   /usr/bin/berth"
std::optional<Mapping> read_mapping(std::string_view line) {
  std::array<std::string_view, 5> words;
  for (std::string_view& word : words) {
    const std::size_t end = line.find(' ');
    if (end == std::string_view::npos) return std::nullopt;
    word = line.substr(0, end);
    line.remove_prefix(end + 1);
  }
  if (words[1].find('x') == std::string_view::npos) return std::nullopt;
  const std::size_t name = line.find_first_not_of(' ');
  const std::size_t dash = words[0].find('-');
  const auto start = read_hex(words[0].substr(0, dash));
  const auto limit =
      dash == std::string_view::npos ? std::nullopt : read_hex(words[0].substr(dash + 1));
  const auto offset = read_hex(words[2]);
  if (!start || !limit || !offset) return std::nullopt;
  return Mapping{*start, *limit, *offset,
                 name == std::string_view::npos ? std::string_view() : line.substr(name)};
}

std::vector<Mapping> read_mappings(std::string_view maps) {
  std::vector<Mapping> mappings;
  while (!maps.empty()) {
    const std::size_t end = maps.find('\n');
    if (const std::optional<Mapping> mapping = read_mapping(maps.substr(0, end)))
      mappings.push_back(*mapping);
    maps = end == std::string_view::npos ? std::string_view() : maps.substr(end + 1);
  }
  return mappings;
}

// Strings by number, as the format requires; 0 is the empty string.
class Texts {
 public:
  Texts() { number(""); }

  std::int64_t number(std::string_view text) {
    const auto [entry, added] =
        numbers_.try_emplace(std::string(text), static_cast<std::int64_t>(texts_.size()));
    if (added) texts_.emplace_back(text);
    return entry->second;
  }
  const std::vector<std::string>& all() const { return texts_; }

 private:
  std::map<std::string, std::int64_t> numbers_;
  std::vector<std::string> texts_;
};

std::string value_type(Texts& texts, std::string_view type, std::string_view unit) {
  std::string message;
  protozero::pbf_writer writer(message);
  writer.add_int64(1, texts.number(type));
  writer.add_int64(2, texts.number(unit));
  return message;
}

}  // namespace

std::string encode_profile(const std::vector<ProfiledStack>& stacks, const ProfileTimes& times,
                           std::string_view maps) {
  Texts texts;
  std::string message;
  protozero::pbf_writer profile(message);
  profile.add_message(1, value_type(texts, "samples", "count"));
  profile.add_message(1, value_type(texts, "cpu", "nanoseconds"));

  std::unordered_map<std::uint64_t, std::uint64_t> locations;  // by address, from 1
  for (const ProfiledStack& stack : stacks) {
    std::vector<std::uint64_t> ids;
    for (const std::uint64_t address : stack.addresses)
      ids.push_back(locations.try_emplace(address, locations.size() + 1).first->second);
    const auto count = static_cast<std::int64_t>(stack.count);
    const std::array<std::int64_t, 2> values = {count, count * kPeriodNanoseconds};
    protozero::pbf_writer sample(profile, 2);
    sample.add_packed_uint64(1, ids.begin(), ids.end());
    sample.add_packed_int64(2, values.begin(), values.end());
  }

  const std::vector<Mapping> mappings = read_mappings(maps);
  for (std::size_t i = 0; i < mappings.size(); ++i) {
    protozero::pbf_writer mapping(profile, 3);
    mapping.add_uint64(1, i + 1);
    mapping.add_uint64(2, mappings[i].start);
    mapping.add_uint64(3, mappings[i].limit);
    mapping.add_uint64(4, mappings[i].offset);
    mapping.add_int64(5, texts.number(mappings[i].file));
  }
  for (const auto& [address, id] : locations) {
    protozero::pbf_writer location(profile, 4);
    location.add_uint64(1, id);
    for (std::size_t i = 0; i < mappings.size(); ++i)
      if (mappings[i].start <= address && address < mappings[i].limit)
        location.add_uint64(2, i + 1);
    location.add_uint64(3, address);
  }
  const std::string period = value_type(texts, "cpu", "nanoseconds");
  for (const std::string& text : texts.all()) profile.add_string(6, text);
  profile.add_int64(9, times.started.since_epoch.count());
  profile.add_int64(10, times.duration.count());
  profile.add_message(11, period);
  profile.add_int64(12, kPeriodNanoseconds);
  return message;
}

Result<std::unique_ptr<CpuProfile>> CpuProfile::start(WallTime now) {
  if (profiler_in_use.exchange(true))
    return fail(ErrorKind::kConflict, "cpu profiling already in use");
  // The first call loads the unwinder, which a handler must not do.
  std::array<void*, 4> primed{};
  ::backtrace(primed.data(), static_cast<int>(primed.size()));
  sampling.store(new SampleBuffer);
  struct sigaction action{};
  action.sa_handler = take_sample;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGPROF, &action, nullptr);
  set_timer(1'000'000 / kSamplesPerSecond);
  return std::unique_ptr<CpuProfile>(new CpuProfile(now));
}

CpuProfile::~CpuProfile() {
  if (running_) stop();
}

std::size_t CpuProfile::samples() const {
  const SampleBuffer* buffer = running_ ? sampling.load() : nullptr;
  return buffer ? std::min(buffer->taken.load(), kMaxSamples) : 0;
}

std::vector<ProfiledStack> CpuProfile::stop() {
  if (!running_) return {};
  running_ = false;
  set_timer(0);
  // A signal that is on its way finds nothing to do. The handler stays: the signal's own meaning is
  // to end the process.
  const std::unique_ptr<SampleBuffer> buffer(sampling.exchange(nullptr));
  while (handlers.load() > 0) continue;

  std::map<std::vector<std::uint64_t>, std::uint64_t> counts;
  for (std::size_t i = 0; i < std::min(buffer->taken.load(), kMaxSamples); ++i) {
    const RawSample& sample = buffer->samples[i];
    const int depth = sample.depth.load(std::memory_order_acquire);
    // The handler itself and the system's way to it come first.
    constexpr int kOurs = 2;
    if (depth <= kOurs) continue;
    std::vector<std::uint64_t> stack;
    for (int frame = kOurs; frame < depth; ++frame) {
      const auto address = reinterpret_cast<std::uintptr_t>(sample.frames[std::size_t(frame)]);
      // A caller's address is where it goes on; the call is before that.
      stack.push_back(frame == kOurs ? address : address - 1);
    }
    ++counts[std::move(stack)];
  }
  profiler_in_use.store(false);
  std::vector<ProfiledStack> stacks;
  for (auto& [stack, count] : counts) stacks.push_back({stack, count});
  return stacks;
}

}  // namespace berth::serve
