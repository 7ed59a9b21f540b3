# Unity builds: the sources of a target are compiled as a few large units instead of one by one, so
# that headers are read a few times instead of hundreds of times. BERTH_UNITY is ON where whole
# builds count (release, sanitizers) and OFF where single files change all the time (debug).
#
# A unit holds sources of one folder; folders with few sources share units. Names in anonymous
# namespaces must therefore be unique within a room. A source with the property
# SKIP_UNITY_BUILD_INCLUSION is compiled by itself.

option(BERTH_UNITY "Compile the sources of a room as a few large units" OFF)
set(BERTH_UNITY_SOURCES 20 CACHE STRING "Sources in a unit, at most")

# berth_unity(TARGET SOURCE...): also leaves in TARGET's property BERTH_COMPILED the paths of what
# the compiler is given, sources or units.
function(berth_unity target)
  if(NOT BERTH_UNITY)
    list(TRANSFORM ARGN PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
    set_target_properties(${target} PROPERTIES BERTH_COMPILED "${ARGN}")
    return()
  endif()
  set(folders)
  foreach(source ${ARGN})
    get_source_file_property(alone ${source} SKIP_UNITY_BUILD_INCLUSION)
    if(alone)
      set_property(TARGET ${target} APPEND PROPERTY BERTH_COMPILED
        ${CMAKE_CURRENT_SOURCE_DIR}/${source})
      continue()
    endif()
    cmake_path(GET source PARENT_PATH folder)
    string(MAKE_C_IDENTIFIER "in_${folder}" folder)
    list(APPEND folders ${folder})
    list(APPEND sources_${folder} ${source})
  endforeach()
  list(REMOVE_DUPLICATES folders)
  set(few)
  foreach(folder ${folders})
    list(LENGTH sources_${folder} count)
    if(count LESS 4)
      list(APPEND few ${sources_${folder}})
    else()
      berth_unity_group(${target} ${folder} ${sources_${folder}})
    endif()
  endforeach()
  berth_unity_group(${target} few ${few})
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

# Distributes the sources over units of about the same number.
function(berth_unity_group target name)
  list(LENGTH ARGN count)
  if(count EQUAL 0)
    return()
  endif()
  math(EXPR units "(${count} + ${BERTH_UNITY_SOURCES} - 1) / ${BERTH_UNITY_SOURCES}")
  math(EXPR size "(${count} + ${units} - 1) / ${units}")
  set(at 0)
  foreach(source ${ARGN})
    math(EXPR unit "${at} / ${size}")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${name}_${unit})
    math(EXPR at "${at} + 1")
  endforeach()
  foreach(unit RANGE ${unit})
    set_property(TARGET ${target} APPEND PROPERTY BERTH_COMPILED
      ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${target}.dir/Unity/unity_${name}_${unit}_cxx.cxx)
  endforeach()
endfunction()
