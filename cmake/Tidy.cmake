# The target `tidy`: clang-tidy over the rooms' sources, not over tests. In a clang build only, whose
# compile commands it reads. What is compiled as one unit is looked at as one, which reads its headers
# once; it is looked at again when its object file was made again, which is when one of its sources or
# headers has changed.

add_custom_target(tidy)

# berth_tidy(TARGET): after berth_unity.
function(berth_tidy target)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    return()
  endif()
  find_program(CLANG_TIDY clang-tidy-19)
  if(NOT CLANG_TIDY)
    return()
  endif()
  get_target_property(compiled ${target} BERTH_COMPILED)
  set(objects ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${target}.dir)
  set(stamps)
  foreach(source ${compiled})
    set(name ${source})
    cmake_path(RELATIVE_PATH name BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
    if(name MATCHES "Unity/[^/]*$")
      set(name ${CMAKE_MATCH_0})
    endif()
    set(stamp ${CMAKE_CURRENT_BINARY_DIR}/tidy/${name}.ok)
    cmake_path(GET stamp PARENT_PATH folder)
    file(MAKE_DIRECTORY ${folder})
    add_custom_command(OUTPUT ${stamp}
      COMMAND ${CLANG_TIDY} --quiet -p ${CMAKE_BINARY_DIR} ${source}
      COMMAND ${CMAKE_COMMAND} -E touch ${stamp}
      DEPENDS ${objects}/${name}${CMAKE_CXX_OUTPUT_EXTENSION} ${PROJECT_SOURCE_DIR}/.clang-tidy
      COMMENT "Looking at ${name}"
      VERBATIM)
    list(APPEND stamps ${stamp})
  endforeach()
  add_custom_target(${target}_tidy DEPENDS ${stamps})
  add_dependencies(tidy ${target}_tidy)
endfunction()
