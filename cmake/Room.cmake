# A room: one folder under src/, one static library, and the rooms it may see.
#
#   berth_room(queue
#     SOURCES scheduling_queue.cc
#     ROOMS framework            # what its headers show
#     LIBRARIES fmt::fmt         # third-party, used in .cc files only
#     TESTS scheduling_queue_test.cc
#     TEST_LIBRARIES berth_api_testing   # for tests and benchmarks only
#     BENCHMARKS scheduling_queue_bench.cc)
#
# RUNS_RARELY, for a room without inner loops: compiled with -O1 in a release, a quarter faster.
#
# Tests of a room are one program, <room>_test; benchmarks one program, <room>_bench, which only the target
# `berth_benchmarks` builds.

add_custom_target(berth_benchmarks)

# berth_benchmark(NAME SOURCES... LIBRARIES...)
function(berth_benchmark name)
  cmake_parse_arguments(BENCHMARK "" "" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(${name} EXCLUDE_FROM_ALL ${BENCHMARK_SOURCES})
  target_link_libraries(${name} PRIVATE ${BENCHMARK_LIBRARIES} benchmark::benchmark_main)
  add_dependencies(berth_benchmarks ${name})
endfunction()

# What all our code is compiled with. The warnings stay here: an embedder has its own.
add_library(berth_flags INTERFACE)
target_compile_features(berth_flags INTERFACE cxx_std_23)
set(warnings -Wall -Wextra -Wshadow -Wconversion -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  list(APPEND warnings -Wthread-safety)
elseif(CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # g++ 12 at -O3 sees overflows in fmt's and the standard library's strings that are not there.
  list(APPEND warnings -Wno-stringop-overflow -Wno-restrict -Wno-maybe-uninitialized)
endif()
if(BERTH_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # A source within a unit counts as a header, in which such a type would be two.
  list(APPEND warnings -Wno-subobject-linkage)
endif()
# Scores follow Go on amd64, which never fuses a multiplication with an addition.
# __FILE__ is a path within the tree: no machine's paths in the program, and clones share a ccache.
target_compile_options(berth_flags INTERFACE
  "$<BUILD_INTERFACE:${warnings};-ffp-contract=off;-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=>")
target_include_directories(berth_flags INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src> $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>)
target_link_libraries(berth_flags INTERFACE Threads::Threads)

function(berth_room name)
  cmake_parse_arguments(ROOM "RUNS_RARELY" "" "SOURCES;ROOMS;LIBRARIES;TESTS;TEST_LIBRARIES;BENCHMARKS" ${ARGN})
  set(library berth_${name})
  add_library(${library} STATIC ${ROOM_SOURCES})
  list(TRANSFORM ROOM_ROOMS PREPEND berth_ OUTPUT_VARIABLE rooms)
  target_link_libraries(${library} PUBLIC berth_flags ${rooms} PRIVATE ${ROOM_LIBRARIES})
  if(ROOM_RUNS_RARELY)
    target_compile_options(${library} PRIVATE $<$<CONFIG:Release>:-O1>)
  endif()
  berth_unity(${library} ${ROOM_SOURCES})
  berth_tidy(${library})

  if(BERTH_TESTS AND ROOM_TESTS)
    add_executable(${name}_test ${ROOM_TESTS})
    berth_unity(${name}_test ${ROOM_TESTS})
    target_link_libraries(${name}_test PRIVATE
      ${library} ${ROOM_TEST_LIBRARIES} ${ROOM_LIBRARIES} GTest::gmock GTest::gtest_main)
    separate_arguments(flags UNIX_COMMAND "${BERTH_TEST_FLAGS}")
    target_compile_options(${name}_test PRIVATE ${flags})
    gtest_discover_tests(${name}_test TEST_PREFIX "${name}." DISCOVERY_MODE PRE_TEST)
  endif()
  if(BERTH_BENCHMARKS AND ROOM_BENCHMARKS)
    berth_benchmark(${name}_bench SOURCES ${ROOM_BENCHMARKS}
      LIBRARIES ${library} ${ROOM_TEST_LIBRARIES} ${ROOM_LIBRARIES})
  endif()
endfunction()
