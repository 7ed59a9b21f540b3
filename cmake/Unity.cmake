# Unity builds: the sources of a target are compiled as a few large units instead of one by one, so
# that headers are read a few times instead of hundreds of times. BERTH_UNITY is ON where whole
# builds count (release, sanitizers) and OFF where a single file changes all the time (debug) or is
# looked at by itself (tidy).
#
# A unit holds sources of one folder; folders with few sources share units. Names in anonymous
# namespaces must therefore be unique within a room.

option(BERTH_UNITY "Compile the sources of a room as a few large units" OFF)
set(BERTH_UNITY_SOURCES 10 CACHE STRING "Sources in a unit, at most")

# berth_unity(TARGET SOURCE...)
function(berth_unity target)
  if(NOT BERTH_UNITY)
    return()
  endif()
  set(folders)
  foreach(source ${ARGN})
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
      berth_unity_group(${target}_${folder} ${sources_${folder}})
    endif()
  endforeach()
  berth_unity_group(${target}_few ${few})
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

# Sources of one folder, in units of about the same size.
function(berth_unity_group name)
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
endfunction()
