#include "cel/semver.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/ascii.h"
#include "base/go_quote.h"
#include "cel/numbers.h"

namespace berth::cel {

namespace {

bool all_digits(std::string_view text) { return std::ranges::all_of(text, is_digit); }

bool all_identifier(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return is_alphanumeric(c) || c == '-'; });
}

std::vector<std::string_view> split(std::string_view text, char separator, std::size_t at_most) {
  std::vector<std::string_view> parts;
  while (parts.size() + 1 < at_most) {
    const std::size_t at = text.find(separator);
    if (at == std::string_view::npos) break;
    parts.push_back(text.substr(0, at));
    text.remove_prefix(at + 1);
  }
  parts.push_back(text);
  return parts;
}

std::unexpected<Error> invalid_semver(std::string text) {
  return fail(ErrorKind::kInvalid, std::move(text));
}

// "major", "minor" or "patch".
Result<std::uint64_t> part(std::string_view text, std::string name) {
  if (!all_digits(text)) {
    return invalid_semver("Invalid character(s) found in " + name + " number " + go_quoted(text));
  }
  if (text.size() > 1 && text[0] == '0') {
    name[0] = static_cast<char>(name[0] - 'a' + 'A');
    return invalid_semver(name + " number must not contain leading zeroes " + go_quoted(text));
  }
  const auto number = parse_uint(text);
  if (!number) {
    return invalid_semver("strconv.ParseUint: parsing " + go_quoted(text) +
                          (text.empty() ? ": invalid syntax" : ": value out of range"));
  }
  return *number;
}

Result<Semver::PreRelease> parse_pre_release(std::string_view text) {
  Semver::PreRelease result;
  if (text.empty()) return invalid_semver("Prerelease is empty");
  if (all_digits(text)) {
    if (text.size() > 1 && text[0] == '0') {
      return invalid_semver("Numeric PreRelease version must not contain leading zeroes " +
                            go_quoted(text));
    }
    const auto number = parse_uint(text);
    if (!number)
      return invalid_semver("strconv.ParseUint: parsing " + go_quoted(text) +
                            ": value out of range");
    result.numeric = true;
    result.number = *number;
  } else if (all_identifier(text)) {
    result.text = text;
  } else {
    return invalid_semver("Invalid character(s) found in prerelease " + go_quoted(text));
  }
  return result;
}

int version_order(auto a, auto b) { return a < b ? -1 : a > b ? 1 : 0; }

int compare(const Semver::PreRelease& a, const Semver::PreRelease& b) {
  if (a.numeric != b.numeric) return a.numeric ? -1 : 1;
  if (a.numeric) return version_order(a.number, b.number);
  return version_order(a.text.compare(b.text), 0);
}

}  // namespace

Result<Semver> Semver::parse(std::string_view text) {
  if (text.empty()) return invalid_semver("Version string empty");
  const auto parts = split(text, '.', 3);
  if (parts.size() != 3) return invalid_semver("No Major.Minor.Patch elements found");

  Semver version;
  const auto major = part(parts[0], "major");
  if (!major) return fail(major.error());
  version.major = *major;
  const auto minor = part(parts[1], "minor");
  if (!minor) return fail(minor.error());
  version.minor = *minor;

  std::string_view rest = parts[2];
  std::optional<std::string_view> build;
  std::optional<std::string_view> before;
  if (const auto at = rest.find('+'); at != std::string_view::npos) {
    build = rest.substr(at + 1);
    rest = rest.substr(0, at);
  }
  if (const auto at = rest.find('-'); at != std::string_view::npos) {
    before = rest.substr(at + 1);
    rest = rest.substr(0, at);
  }
  const auto patch = part(rest, "patch");
  if (!patch) return fail(patch.error());
  version.patch = *patch;

  if (before) {
    for (const std::string_view each : split(*before, '.', std::string_view::npos)) {
      auto parsed = parse_pre_release(each);
      if (!parsed) return fail(parsed.error());
      version.pre_release.push_back(std::move(*parsed));
    }
  }
  if (build) {
    for (const std::string_view each : split(*build, '.', std::string_view::npos)) {
      if (each.empty()) return invalid_semver("Build meta data is empty");
      if (!all_identifier(each)) {
        return invalid_semver("Invalid character(s) found in build meta data " + go_quoted(each));
      }
      version.build.emplace_back(each);
    }
  }
  return version;
}

Result<Semver> Semver::parse_normalized(std::string_view text) {
  if (text.starts_with('v')) text.remove_prefix(1);
  const auto parts = split(text, '.', 3);
  std::string normalized;
  for (std::size_t i = 0; i < 3; ++i) {
    if (i > 0) normalized += '.';
    if (i >= parts.size()) {
      normalized += '0';
      continue;
    }
    std::string_view each = parts[i];
    if (each.size() > 1) {
      while (each.starts_with('0')) each.remove_prefix(1);
      if (each.empty() || each[0] < '0' || each[0] > '9') normalized += '0';
    }
    normalized += each;
  }
  if (parts.size() < 3 && parts.back().find_first_of("+-") != std::string_view::npos) {
    return invalid_semver("short version cannot contain PreRelease/Build meta data");
  }
  return parse(normalized);
}

int compare(const Semver& a, const Semver& b) {
  if (const int by = version_order(a.major, b.major); by != 0) return by;
  if (const int by = version_order(a.minor, b.minor); by != 0) return by;
  if (const int by = version_order(a.patch, b.patch); by != 0) return by;
  if (a.pre_release.empty() || b.pre_release.empty()) {
    return version_order(a.pre_release.empty() ? 1 : 0, b.pre_release.empty() ? 1 : 0);
  }
  const std::size_t common = std::min(a.pre_release.size(), b.pre_release.size());
  for (std::size_t i = 0; i < common; ++i) {
    if (const int by = compare(a.pre_release[i], b.pre_release[i]); by != 0) return by;
  }
  return version_order(a.pre_release.size(), b.pre_release.size());
}

}  // namespace berth::cel
