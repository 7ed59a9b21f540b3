# `cmake --install`: the program, and the package `berth` for programs that embed the scheduler:
#
#   find_package(berth REQUIRED)
#   target_link_libraries(mine PRIVATE berth::berth)      // #include "berth/scheduler.h"
#
# Installed are the public headers, include/berth/*.h, which include nothing else of ours, and the
# archives of the rooms that the public door links.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS berth RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
install(FILES ${CMAKE_BINARY_DIR}/bin/kube-scheduler
  DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)

# What `berth bench` runs when it is given no file.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/bench/workloads
  DESTINATION ${CMAKE_INSTALL_DATADIR}/berth COMPONENT program)

set(rooms berth_embed)  # the one behind the public door

# How an embedder finds what a room links.
set(find_fmt::fmt "find_dependency(fmt)")
set(find_Threads::Threads "find_dependency(Threads)")
set(find_Boost::headers "find_dependency(Boost 1.81)")
set(find_simdjson::simdjson "find_dependency(simdjson)")
set(find_CLI11::CLI11 "find_dependency(CLI11)")
set(find_PkgConfig::LIBYAML "find_dependency(PkgConfig)
pkg_check_modules(LIBYAML REQUIRED QUIET IMPORTED_TARGET yaml-0.1)")
set(find_PkgConfig::RE2 "find_dependency(PkgConfig)
pkg_check_modules(RE2 REQUIRED QUIET IMPORTED_TARGET re2)")

# All rooms that come with these, and all third parties.
set(installed)
set(dependencies)
while(rooms)
  list(POP_FRONT rooms room)
  if(room IN_LIST installed)
    continue()
  endif()
  list(APPEND installed ${room})
  set(links)
  foreach(property LINK_LIBRARIES INTERFACE_LINK_LIBRARIES)
    get_target_property(some ${room} ${property})
    if(some)
      list(APPEND links ${some})
    endif()
  endforeach()
  foreach(link ${links})
    if(link MATCHES "LINK_ONLY:(.*)>$")
      set(link ${CMAKE_MATCH_1})
    endif()
    if(link MATCHES "^berth_")
      list(APPEND rooms ${link})
    elseif(DEFINED find_${link})
      list(APPEND dependencies "${find_${link}}")
    else()
      message(FATAL_ERROR "${room} links ${link}: Install.cmake does not know how to find it")
    endif()
  endforeach()
endwhile()
list(REMOVE_DUPLICATES dependencies)
list(JOIN dependencies "\n" BERTH_DEPENDENCIES)

foreach(room ${installed})
  string(REGEX REPLACE "^berth_" "" name ${room})
  set_target_properties(${room} PROPERTIES EXPORT_NAME ${name})
endforeach()
add_library(berth_package INTERFACE)
set_target_properties(berth_package PROPERTIES EXPORT_NAME berth)
target_link_libraries(berth_package INTERFACE ${installed})
target_include_directories(berth_package INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/berth)
install(TARGETS berth_package ${installed} EXPORT berth
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT berth NAMESPACE berth:: FILE berth-targets.cmake DESTINATION ${package})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/berth-config.cmake.in
  ${CMAKE_BINARY_DIR}/berth-config.cmake INSTALL_DESTINATION ${package})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/berth-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/berth-config.cmake ${CMAKE_BINARY_DIR}/berth-config-version.cmake
  DESTINATION ${package})

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/berth DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN *.h)

# The package is tested as an embedder meets it: installed, found, built against, run.
if(BERTH_TESTS)
  add_test(NAME package.Installs
    COMMAND ${CMAKE_COMMAND} --install ${CMAKE_BINARY_DIR} --prefix ${CMAKE_BINARY_DIR}/stage)
  set_tests_properties(package.Installs PROPERTIES FIXTURES_SETUP berth_installed)
  foreach(example embed autoscaler)
    set(source ${PROJECT_SOURCE_DIR}/examples/${example})
    add_test(NAME package.TheExampleBuildsAgainstIt.${example}
      COMMAND ${CMAKE_CTEST_COMMAND}
        --build-and-test ${source} ${CMAKE_BINARY_DIR}/examples/${example}
        --build-generator ${CMAKE_GENERATOR}
        --build-options
          -DCMAKE_BUILD_TYPE=${CMAKE_BUILD_TYPE}
          -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}
          -DCMAKE_CXX_COMPILER_LAUNCHER=${CCACHE}
          -DCMAKE_CXX_FLAGS=${CMAKE_CXX_FLAGS}
          -DCMAKE_EXE_LINKER_FLAGS=${CMAKE_EXE_LINKER_FLAGS}
          -DCMAKE_PREFIX_PATH=${CMAKE_BINARY_DIR}/stage)
    add_test(NAME package.TheExampleRuns.${example}
      COMMAND ${CMAKE_COMMAND}
        -DPROGRAM=${CMAKE_BINARY_DIR}/examples/${example}/${example}
        -DEXPECTED=${source}/expected.txt
        -P ${PROJECT_SOURCE_DIR}/cmake/RunExample.cmake)
    set_tests_properties(package.TheExampleBuildsAgainstIt.${example} PROPERTIES
      FIXTURES_REQUIRED berth_installed FIXTURES_SETUP berth_example_${example})
    set_tests_properties(package.TheExampleRuns.${example} PROPERTIES
      FIXTURES_REQUIRED berth_example_${example})
  endforeach()
  # From a folder that has no workloads of its own.
  add_test(NAME package.TheInstalledProgramFindsItsWorkloads
    COMMAND ${CMAKE_BINARY_DIR}/stage/${CMAKE_INSTALL_BINDIR}/berth bench --list
      --filter ^SchedulingBasic/500Nodes$
    WORKING_DIRECTORY ${CMAKE_BINARY_DIR}/stage)
  set_tests_properties(package.TheInstalledProgramFindsItsWorkloads PROPERTIES
    FIXTURES_REQUIRED berth_installed PASS_REGULAR_EXPRESSION "^SchedulingBasic/500Nodes\n$")
endif()
