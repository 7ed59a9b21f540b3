# Third-party packages, all from Debian 12 or 13. Each is looked for here, once; a room links what it
# needs by target name:
#
#   fmt::fmt  Boost::headers  simdjson::simdjson  PkgConfig::LIBYAML
#   CLI11::CLI11  OpenSSL::SSL  PkgConfig::CURL  PkgConfig::NGHTTP2  ZLIB::ZLIB  PkgConfig::RE2
#
# Tests get GTest::gmock, benchmarks benchmark::benchmark_main.

find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(fmt REQUIRED)
find_package(Boost 1.81 REQUIRED)
find_package(simdjson REQUIRED)
find_package(CLI11 REQUIRED)
find_package(OpenSSL 3 REQUIRED)
find_package(ZLIB REQUIRED)
pkg_check_modules(LIBYAML REQUIRED IMPORTED_TARGET yaml-0.1)
pkg_check_modules(CURL REQUIRED IMPORTED_TARGET libcurl)
pkg_check_modules(NGHTTP2 REQUIRED IMPORTED_TARGET libnghttp2)
pkg_check_modules(RE2 REQUIRED IMPORTED_TARGET re2)
# protozero is headers only, in the compiler's own path: nothing to link, but it has to be there.
find_path(BERTH_PROTOZERO protozero/version.hpp REQUIRED)
mark_as_advanced(BERTH_PROTOZERO)

if(BERTH_TESTS)
  find_package(GTest REQUIRED)
  include(GoogleTest)
endif()
if(BERTH_BENCHMARKS)
  find_package(benchmark REQUIRED)
endif()
