// The natural logarithm as upstream computes it: the C library's differs in the last bit for one
// number in a hundred (plugins.md §0.6).
#pragma once

namespace berth::plugins {

double natural_log(double x);  // of a positive, finite number

}  // namespace berth::plugins
