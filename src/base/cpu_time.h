// How long this process has been computing, on all its cores: a measure that does not grow while
// others have the machine.
#pragma once

#include "berth/loop.h"

namespace berth {

Duration cpu_time();

}  // namespace berth
