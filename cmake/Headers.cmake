# The target `berth_headers`: every header compiles alone. One translation unit per header, which
# includes that header and nothing else.

file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
  ${PROJECT_SOURCE_DIR}/src/*.h ${PROJECT_SOURCE_DIR}/include/*.h)

set(units)
foreach(header ${headers})
  set(unit ${CMAKE_BINARY_DIR}/headers/${header}.cc)
  string(REGEX REPLACE "^(src|include)/" "" include ${header})
  file(CONFIGURE OUTPUT ${unit} CONTENT "#include \"@include@\"\n" @ONLY)
  list(APPEND units ${unit})
endforeach()

add_library(berth_headers OBJECT EXCLUDE_FROM_ALL ${units})
target_link_libraries(berth_headers PRIVATE berth_flags)
target_compile_options(berth_headers PRIVATE -O0 -g0)
