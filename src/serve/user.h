// The user of a request, as far as it is known.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace berth::serve {

struct UserInfo {
  std::string name;
  std::string uid;
  std::vector<std::string> groups;
  std::map<std::string, std::vector<std::string>> extra;

  bool in_group(const std::string& group) const;

  friend bool operator==(const UserInfo&, const UserInfo&) = default;
};

inline bool UserInfo::in_group(const std::string& group) const {
  for (const std::string& mine : groups)
    if (mine == group) return true;
  return false;
}

}  // namespace berth::serve
