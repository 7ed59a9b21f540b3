// The kinds of values that flags of kube-scheduler have. Each writes to a field that has to outlive
// it. Only for this room.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "berth/loop.h"
#include "berth/resources.h"
#include "config/flags/flag_set.h"
#include "config/flags/scheduler_options.h"

namespace berth::config {

std::unique_ptr<FlagValue> text_value(std::string& field);
std::unique_ptr<FlagValue> bool_value(bool& field);
std::unique_ptr<FlagValue> int_value(std::int64_t& field);
std::unique_ptr<FlagValue> int32_value(std::int32_t& field);
std::unique_ptr<FlagValue> float_value(float& field);
std::unique_ptr<FlagValue> duration_value(Duration& field);
std::unique_ptr<FlagValue> ip_value(std::string& field);
// Comma separated and repeatable; the first occurrence takes the place of the default.
std::unique_ptr<FlagValue> texts_value(std::vector<std::string>& field);
std::unique_ptr<FlagValue> int32s_value(std::vector<std::int32_t>& field);
// key=value, comma separated and repeatable.
std::unique_ptr<FlagValue> text_map_value(std::map<std::string, std::string>& field);
std::unique_ptr<FlagValue> quantity_value(Quantity& field);
std::unique_ptr<FlagValue> cert_keys_value(std::vector<NamedCertKey>& field);
std::unique_ptr<FlagValue> verbosity_value(std::int32_t& field);
std::unique_ptr<FlagValue> vmodule_value(std::vector<VerbosityPattern>& field);
// component:Gate=bool pairs, kept as they were written.
std::unique_ptr<FlagValue> gates_value(std::vector<std::string>& field);
// --version; one that is to be reported has to be of this release.
std::unique_ptr<FlagValue> version_value(VersionOptions& field);

}  // namespace berth::config
