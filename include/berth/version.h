// The version of the library. CMake's project version is read from here.
#pragma once

#define BERTH_VERSION_MAJOR 0
#define BERTH_VERSION_MINOR 1
#define BERTH_VERSION_PATCH 0

// "0.1.0"
#define BERTH_VERSION_TEXT_OF_(number) #number
#define BERTH_VERSION_TEXT_(major, minor, patch) \
  BERTH_VERSION_TEXT_OF_(major) "." BERTH_VERSION_TEXT_OF_(minor) "." BERTH_VERSION_TEXT_OF_(patch)
#define BERTH_VERSION \
  BERTH_VERSION_TEXT_(BERTH_VERSION_MAJOR, BERTH_VERSION_MINOR, BERTH_VERSION_PATCH)
