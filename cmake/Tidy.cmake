# The target `tidy`: clang-tidy over the rooms' sources, not over tests. In a clang build only, whose
# compile commands it reads. A file is looked at again when its object file was made again, which is
# when it or a header of its has changed.

add_custom_target(tidy)

function(berth_tidy target)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    return()
  endif()
  find_program(CLANG_TIDY clang-tidy-19)
  if(NOT CLANG_TIDY)
    return()
  endif()
  set(stamps)
  foreach(source ${ARGN})
    set(stamp ${CMAKE_CURRENT_BINARY_DIR}/tidy/${source}.ok)
    cmake_path(GET stamp PARENT_PATH folder)
    file(MAKE_DIRECTORY ${folder})
    add_custom_command(OUTPUT ${stamp}
      COMMAND ${CLANG_TIDY} --quiet -p ${CMAKE_BINARY_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/${source}
      COMMAND ${CMAKE_COMMAND} -E touch ${stamp}
      DEPENDS
        ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${target}.dir/${source}${CMAKE_CXX_OUTPUT_EXTENSION}
        ${PROJECT_SOURCE_DIR}/.clang-tidy
      COMMENT "Looking at ${source}"
      VERBATIM)
    list(APPEND stamps ${stamp})
  endforeach()
  add_custom_target(${target}_tidy DEPENDS ${stamps})
  add_dependencies(tidy ${target}_tidy)
endfunction()
