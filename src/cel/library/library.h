// The parts of the function table. Each adds its overloads in upstream's order. Only functions.cc
// calls these.
#pragma once

#include "cel/functions.h"

namespace berth::cel {

void add_operators(FunctionTable& table);        // + - * / % < <= == in size(x) ...
void add_conversions(FunctionTable& table);      // int(x), string(x), type(x), dyn(x) ...
void add_string_tests(FunctionTable& table);     // contains, startsWith, endsWith, matches
void add_time(FunctionTable& table);             // getHours(), ...
void add_urls(FunctionTable& table);             // url, isURL and the parts of one
void add_regexes(FunctionTable& table);          // find, findAll
void add_list_statistics(FunctionTable& table);  // isSorted, sum, min, max, indexOf, lastIndexOf
void add_authorization(FunctionTable& table);    // declared; there is nothing to call them on
void add_optionals(FunctionTable& table);        // optional.of, orValue, ...
void add_quantities(FunctionTable& table);
void add_strings(FunctionTable& table);  // lowerAscii, split, replace, format, ...
void add_sets(FunctionTable& table);
void add_addresses(FunctionTable& table);  // ip, cidr
void add_named_formats(FunctionTable& table);
void add_semver(FunctionTable& table);
void add_lists(FunctionTable& table);    // slice, flatten, sort, range, reverse, distinct
void add_devices(FunctionTable& table);  // includes; insertion into maps, for macros

}  // namespace berth::cel
