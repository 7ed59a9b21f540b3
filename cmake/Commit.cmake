# cmake -DFOLDER=… -DOUTPUT=… -P Commit.cmake: writes a source file that names the commit in FOLDER, "+" after
# it when files have changed since, or nothing where there is no history. Untouched when that is the same as
# before, so that nothing is compiled for it.
execute_process(COMMAND git rev-parse --short=12 HEAD
  WORKING_DIRECTORY ${FOLDER} OUTPUT_VARIABLE commit RESULT_VARIABLE unknown
  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(unknown)
  set(commit "")
else()
  execute_process(COMMAND git diff-index --quiet HEAD --
    WORKING_DIRECTORY ${FOLDER} RESULT_VARIABLE changed ERROR_QUIET)
  if(changed)
    string(APPEND commit "+")
  endif()
endif()

set(text "#include \"app/version.h\"\n\nnamespace berth::app {\n\nconst char kCommit[] = \"${commit}\";\n\n}  // namespace berth::app\n")
set(before "")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} before)
endif()
if(NOT text STREQUAL before)
  file(WRITE ${OUTPUT} "${text}")
endif()
