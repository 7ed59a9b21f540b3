#include "trace/anonymiser.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "base/ascii.h"

namespace berth::trace {
namespace {

constexpr std::array<std::string_view, 15> kKept{
    "",
    "true",
    "false",
    "linux",
    "windows",
    "amd64",
    "arm64",
    "default",
    "kube-system",
    "kube-public",
    "kube-node-lease",
    "default-scheduler",
    "system-cluster-critical",
    "system-node-critical",
    "kubernetes.io/no-provisioner",
};

// Parts of an image's name that mean the same for all images.
constexpr std::array<std::string_view, 2> kKeptWords{"latest", "sha256"};

constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz234567";
constexpr std::size_t kWordLength = 7;

bool is_between_words(char c) { return std::string_view("-._/:@ ").contains(c); }

}  // namespace

// Begins with a letter, as some names must.
std::string Anonymiser::word(std::string_view text) const {
  std::uint64_t hash = sip_hash(key_, text);
  std::string replaced(1, kLetters[hash % 26]);
  for (hash /= 26; replaced.size() < kWordLength; hash /= 32) replaced += kLetters[hash % 32];
  return replaced;
}

std::string Anonymiser::name(std::string_view text) const {
  if (std::ranges::find(kKept, text) != kKept.end()) return std::string(text);
  std::string replaced;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::ranges::find_if(text.substr(at), is_between_words) - text.begin();
    const std::string_view part = text.substr(at, static_cast<std::size_t>(end) - at);
    if (std::ranges::find(kKeptWords, part) != kKeptWords.end())
      replaced += part;
    else if (!part.empty())
      replaced += word(part);
    at += part.size();
    if (at < text.size()) replaced += text[at++];
  }
  return replaced;
}

std::string Anonymiser::node_label(std::string_view text) const {
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  return !digits.empty() && std::ranges::all_of(digits, is_digit) ? std::string(text) : name(text);
}

std::string Anonymiser::uid(std::string_view text) const {
  if (text.empty()) return {};
  const std::uint64_t first = sip_hash(key_, text);
  const std::uint64_t second = sip_hash({key_.second, key_.first}, text);
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", first >> 32, (first >> 16) & 0xffff,
                     first & 0xffff, second >> 48, second & 0xffff'ffff'ffff);
}

}  // namespace berth::trace
