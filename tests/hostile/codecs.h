// Every object of a cluster through every codec (YAML, JSON, protobuf) and through the embedded API
// server: created, shown as a table, patched in three ways, saved.
#pragma once

#include <string>

namespace berth::hostile {

// `path`: a file with the cluster's objects. The exit code; what went wrong is on stderr.
int run_codecs(const std::string& path);

}  // namespace berth::hostile
