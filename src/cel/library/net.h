// Addresses and ranges of addresses as text. Errors are in upstream's words.
#pragma once

#include <string>
#include <string_view>

#include "berth/result.h"
#include "cel/value.h"

namespace berth::cel {

// Without zone, and no IPv4 address in the dress of an IPv6 one.
Result<IpAddress> parse_ip(std::string_view text);
Result<IpPrefix> parse_cidr(std::string_view text);
std::string ip_text(const IpAddress& address);  // the canonical form
std::string cidr_text(const IpPrefix& prefix);

}  // namespace berth::cel
