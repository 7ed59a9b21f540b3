# Third-party packages, all from Debian 12. Each is looked for here, once; a room links what it
# needs by target name:
#
#   fmt::fmt  Boost::headers  simdjson::simdjson  PkgConfig::LIBYAML
#   CLI11::CLI11
#
# Tests get GTest::gmock, benchmarks benchmark::benchmark_main.

find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(fmt REQUIRED)
find_package(Boost 1.81 REQUIRED)
find_package(simdjson REQUIRED)
find_package(CLI11 REQUIRED)
pkg_check_modules(LIBYAML REQUIRED IMPORTED_TARGET yaml-0.1)

if(BERTH_TESTS)
  find_package(GTest REQUIRED)
  include(GoogleTest)
endif()
if(BERTH_BENCHMARKS)
  find_package(benchmark REQUIRED)
endif()
