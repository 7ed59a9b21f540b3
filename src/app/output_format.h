// The forms in which commands print their results (-o).
#pragma once

#include <cstdint>

namespace berth::app {

enum class OutputFormat : std::uint8_t { kTable, kJson, kYaml, kHtml };

}  // namespace berth::app
