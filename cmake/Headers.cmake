# The target `berth_headers`: every header compiles alone. A header that is the first that its own
# source or test includes is known to; each of the others gets a translation unit that includes it
# and nothing else.

file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
  ${PROJECT_SOURCE_DIR}/src/*.h ${PROJECT_SOURCE_DIR}/include/*.h)

set(units)
foreach(header ${headers})
  string(REGEX REPLACE "^(src|include)/" "" include ${header})
  string(REGEX REPLACE "\\.h$" "" stem ${PROJECT_SOURCE_DIR}/${header})
  set(known FALSE)
  foreach(source ${stem}.cc ${stem}_test.cc)
    if(EXISTS ${source})
      file(STRINGS ${source} first REGEX "^#include" LIMIT_COUNT 1)
      if(first STREQUAL "#include \"${include}\"")
        set(known TRUE)
      endif()
    endif()
  endforeach()
  if(NOT known)
    set(unit ${CMAKE_BINARY_DIR}/headers/${header}.cc)
    file(CONFIGURE OUTPUT ${unit} CONTENT "#include \"@include@\"\n" @ONLY)
    list(APPEND units ${unit})
  endif()
endforeach()

add_library(berth_headers OBJECT EXCLUDE_FROM_ALL ${units})
target_link_libraries(berth_headers PRIVATE berth_flags)
target_compile_options(berth_headers PRIVATE -O0 -g0)
