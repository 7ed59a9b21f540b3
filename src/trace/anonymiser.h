// Anonymiser: other names for names, so that a recording can be given away. Equal texts stay equal,
// wherever they stand, and what is put together of names ("web-7f9c" of "web") stays put together: a
// text is replaced word by word, the signs between the words stay. Without the key nobody can tell what
// a word was. Any thread.
//
//   "ip-10-0-3-7.eu.internal"  ►  "nq3dkw5-k6vs2ha-uz7eyb2-x2fj6og-…"
#pragma once

#include <string>
#include <string_view>

#include "base/sip_hash.h"

namespace berth::trace {

class Anonymiser {
 public:
  explicit Anonymiser(SipKey key) : key_(key) {}

  // Names, labels' values, images. What says nothing about anybody stays: "kube-system", "amd64", …
  std::string name(std::string_view text) const;
  // A label of a node, or what is compared with one: whole numbers stay, because they may be compared
  // by size.
  std::string node_label(std::string_view text) const;
  std::string uid(std::string_view text) const;

 private:
  std::string word(std::string_view text) const;

  SipKey key_;
};

}  // namespace berth::trace
