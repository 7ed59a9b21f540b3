#include "config/flags/versions.h"

#include <fmt/format.h>

#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <utility>

#include "base/ascii.h"
#include "base/go_quote.h"
#include "config/go_values.h"
#include "wire/json_text.h"

namespace berth::config {
namespace {

struct Version {
  std::vector<std::uint64_t> components;
  std::string extra;  // what follows the numbers

  std::uint64_t at(std::size_t i) const { return i < components.size() ? components[i] : 0; }
};

struct MajorMinor {
  std::uint64_t major = 0;
  std::uint64_t minor = 0;
  friend auto operator<=>(const MajorMinor&, const MajorMinor&) = default;

  std::string text() const { return fmt::format("{}.{}", major, minor); }
};

constexpr MajorMinor kNewest{1, kKubernetesMinor};
constexpr MajorMinor kOldest{1, kOldestEmulatedMinor};

bool is_identifier(char c) { return is_alphanumeric(c) || c == '-'; }

// One or more identifiers with dots between them; the rest of `text` after them.
bool skip_identifiers(std::string_view& text) {
  while (true) {
    std::size_t size = 0;
    while (size < text.size() && is_identifier(text[size])) ++size;
    if (size == 0) return false;
    text.remove_prefix(size);
    if (text.size() < 2 || text[0] != '.' || !is_identifier(text[1])) return true;
    text.remove_prefix(1);
  }
}

std::unexpected<Error> zero_prefixed(std::string_view component, std::string_view text) {
  return fail(ErrorKind::kInvalid, fmt::format("illegal zero-prefixed version component {} in {}",
                                               go_quoted(component), go_quoted(text)));
}

bool has_zero_prefix(std::string_view component) {
  return component.size() > 1 && component.starts_with('0');
}

// "-rc.1+build", nothing else.
Result<void> check_extra(std::string_view extra, std::string_view text) {
  std::string_view rest = extra;
  std::string_view pre_release;
  if (rest.starts_with('-')) {
    std::string_view after = rest.substr(1);
    if (skip_identifiers(after)) {
      pre_release = rest.substr(1, rest.size() - 1 - after.size());
      rest = after;
    }
  }
  if (rest.starts_with('+')) {
    std::string_view after = rest.substr(1);
    if (skip_identifiers(after)) rest = after;
  }
  if (!trimmed(rest).empty()) {
    return fail(ErrorKind::kInvalid,
                fmt::format("could not parse pre-release/metadata ({}) in version {}", extra,
                            go_quoted(text)));
  }
  while (!pre_release.empty()) {
    const std::size_t dot = std::min(pre_release.find('.'), pre_release.size());
    const std::string_view component = pre_release.substr(0, dot);
    if (has_zero_prefix(component) && std::ranges::all_of(component, is_digit)) {
      return zero_prefixed(component, text);
    }
    pre_release.remove_prefix(std::min(dot + 1, pre_release.size()));
  }
  return {};
}

// Semantic: three numbers and an orderly rest. Else two or more numbers and anything.
Result<Version> parse_version(std::string_view text, bool semantic) {
  std::string_view rest = text;
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t\n\f\r"), rest.size()));
  if (rest.starts_with('v')) rest.remove_prefix(1);
  std::vector<std::string_view> words;
  while (!rest.empty() && is_digit(rest.front())) {
    std::size_t size = 0;
    while (size < rest.size() && is_digit(rest[size])) ++size;
    words.push_back(rest.substr(0, size));
    rest.remove_prefix(size);
    if (rest.size() < 2 || rest[0] != '.' || !is_digit(rest[1])) break;
    rest.remove_prefix(1);
  }
  if (words.empty() || rest.contains('\n')) {
    return fail(ErrorKind::kInvalid, fmt::format("could not parse {} as version", go_quoted(text)));
  }
  if (semantic ? words.size() != 3 : words.size() < 2) {
    return fail(ErrorKind::kInvalid, fmt::format("illegal version string {}", go_quoted(text)));
  }
  Version version;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if ((i == 0 || semantic) && has_zero_prefix(words[i])) return zero_prefixed(words[i], text);
    const Result<std::uint64_t> number = parse_uint(words[i], 10, 64);
    if (!number) {
      return fail(ErrorKind::kInvalid,
                  fmt::format("illegal non-numeric version component {} in {}: {}",
                              go_quoted(words[i]), go_quoted(text), number.error().message));
    }
    version.components.push_back(*number);
  }
  version.extra = rest;
  if (semantic && !rest.empty()) {
    if (Result<void> valid = check_extra(rest, text); !valid) return fail(valid.error());
  }
  return version;
}

std::string shown(const Version& version) {
  return fmt::format("{}", fmt::join(version.components, "."));
}

// The values of a flag by component; only one component is known, and it needs no name.
Result<std::map<std::string, MajorMinor>> by_component(const std::vector<std::string>& words) {
  std::map<std::string, MajorMinor> versions;
  std::map<std::string, std::string> texts;
  for (const std::string& word : words) {
    std::string component = "kube";
    std::string_view text = word;
    if (const std::size_t equals = word.find('='); equals != std::string::npos) {
      component = trimmed(text.substr(0, equals));
      text = trimmed(text.substr(equals + 1));
    }
    Result<Version> version = parse_version(text, /*semantic=*/true);
    std::string suffix;
    if (version) {
      suffix = trimmed(version->extra);
    } else {
      version = parse_version(text, /*semantic=*/false);
    }
    if (!version) return fail(std::move(version.error()));
    const std::string full = shown(*version) + suffix;
    if (version->components.size() == 3 && version->at(2) != 0) {
      return fail(ErrorKind::kInvalid,
                  fmt::format("patch version not allowed, got: {}={}", component, full));
    }
    if (const auto found = texts.find(component); found != texts.end()) {
      return fail(ErrorKind::kInvalid, fmt::format("duplicate version flag, {}={} and {}={}",
                                                   component, found->second, component, full));
    }
    texts.emplace(component, full);
    versions.emplace(component, MajorMinor{version->at(0), version->at(1)});
  }
  for (const auto& [component, version] : versions) {
    if (component != "kube") {
      return fail(ErrorKind::kInvalid, fmt::format("component not registered: {}", component));
    }
  }
  return versions;
}

}  // namespace

Result<void> check_reported_version(std::string_view text) {
  if (text == kKubernetesVersion) return {};
  const Result<Version> wanted = parse_version(text, /*semantic=*/true);
  if (!wanted) return fail(wanted.error());
  const Result<Version> ours = parse_version(kKubernetesVersion, /*semantic=*/true);
  if (wanted->components == ours->components) return {};
  return fail(ErrorKind::kInvalid,
              fmt::format("version {} must match major/minor/patch of default version {}",
                          go_quoted(text), go_quoted(kKubernetesVersion)));
}

Result<EffectiveVersions> effective_versions(const VersionOptions& options) {
  MajorMinor emulated = kNewest;
  MajorMinor min_compatible{1, kKubernetesMinor - 1};
  Result<std::map<std::string, MajorMinor>> given = by_component(options.emulated);
  if (!given) return fail(std::move(given.error()));
  if (!given->empty()) {
    emulated = given->begin()->second;
    min_compatible = {emulated.major, emulated.minor == 0 ? 0 : emulated.minor - 1};
    min_compatible = std::max(min_compatible, kOldest);
  }
  given = by_component(options.min_compatible);
  if (!given) return fail(std::move(given.error()));
  if (!given->empty()) min_compatible = given->begin()->second;

  EffectiveVersions result;
  result.emulated = emulated.text();
  result.min_compatible = min_compatible.text();
  result.emulated_minor = static_cast<int>(std::clamp(emulated, kOldest, kNewest).minor);
  result.min_compatible_minor =
      static_cast<int>(std::clamp(min_compatible, kOldest, kNewest).minor);
  if (emulated > kNewest || emulated < kOldest) {
    const Result<Version> reported = parse_version(options.reported, /*semantic=*/true);
    result.complaints.push_back(fmt::format(
        "emulation version {} is not between [{}, {}.0{}]", result.emulated, kOldest.text(),
        kNewest.text(), reported ? trimmed(reported->extra) : std::string_view()));
  }
  if (min_compatible > emulated || min_compatible < kOldest) {
    result.complaints.push_back(
        fmt::format("minCompatibilityVersion version {} is not between [{}, {}]",
                    result.min_compatible, kOldest.text(), result.emulated));
  }
  return result;
}

}  // namespace berth::config
