# SPDX-License-Identifier: MIT
# How to add a test.
#
#   1. Write tests/<tier>/<folder>/<name>_test.c: Criterion tests, or a plain main() that returns 0 for passed,
#      77 for skipped (after printing the reason) and anything else for failed. Race tests are plain
#      programs: Criterion's worker processes do not start under ThreadSanitizer.
#   2. In tests/<tier>/CMakeLists.txt say
#          zepi_add_test(NAME unit.key SOURCES key_test.c LIBS zepi_cache CRITERION)
#
# zepi_add_test(NAME <tier>.<name> SOURCES <file>... [FIXTURES <file>...] [LIBS <target>...] [LABEL <tier>]
#               [CRITERION]
#               [TIMEOUT <seconds>] [SERIAL] [LONG] [ASAN] [DISCRETE] [DEPENDS <target>...] [ARGS <argument>...])
#   LABEL     tier: unit null integration capture fault stress fuzz runtime intel; NAME's first part if left out
#   FIXTURES  sources that several tests have: each is compiled once, with the LIBS of the first of these tests
#   LIBS      linked beside tests/support (test_env.h, test_plugin.h), which every test gets
#   CRITERION links Criterion, whose main() it then uses; no such test exists under ThreadSanitizer
#   TIMEOUT   60 seconds if left out, four times that with a sanitizer
#   SERIAL    runs alone: for tests that measure time
#   LONG      has the label long, too: tests that take minutes, or judge costs; tools/check leaves them to --all
#   ASAN      has the label asan, too: tools/check runs it under AddressSanitizer, and not on the
#             release preset
#   DISCRETE  runs as <NAME>.discrete, too, on a CPU driver whose devices have memory of their own
#             (ZE_CPU_INTEGRATED=0), with the label discrete, and with the label long unless it is in
#             ZEPI_DISCRETE_TESTS
#   DEPENDS   targets built before it; test_device_code (tests/data) and both libraries always are
#   ARGS      command line of the test
#
# The presets of CMakePresets.json say which labels tools/check runs.
#
# The program lands in <build>/tests/<NAME> and needs no environment: run it bare. The target
# tests_<tier> builds every test of a tier.
set(ZEPI_REORDER_SEED 1 CACHE STRING "ZE_CPU_REORDER of the runtime's tests")
set(ZEPI_TEST_TIERS unit null integration capture fault stress fuzz runtime intel)
# Stories that touch memory: tools/check runs them on discrete devices, too.
set(ZEPI_DISCRETE_TESTS
  ur.buffer ur.fill ur.map ur.usm ur.command_buffer ur.command_buffer_objects ur.device_global ur.virtual_memory
  integration.memory integration.usm_pool integration.queue runtime.sycl_buffers runtime.sycl_usm)

# Programs that need not be built for tools/quickstart belong to one of these.
if(ZEPI_TESTS)
  foreach(tier IN LISTS ZEPI_TEST_TIERS)
    add_custom_target(tests_${tier})
  endforeach()
  add_custom_target(tests_asan) # those with ASAN
  pkg_check_modules(CRITERION IMPORTED_TARGET criterion)
  find_program(VALGRIND valgrind)
endif()

# Sets `out_target` to the object library of a source that several tests have.
function(zepi_add_fixture out_target source)
  get_filename_component(path "${source}" ABSOLUTE)
  file(RELATIVE_PATH path "${PROJECT_SOURCE_DIR}/tests" "${path}")
  string(MAKE_C_IDENTIFIER "fixture_${path}" target)
  if(NOT TARGET ${target})
    add_library(${target} OBJECT "${source}")
    if(NOT path MATCHES "^stress/")
      target_compile_options(${target} PRIVATE -O0)
    endif()
    target_link_libraries(${target} PRIVATE ${ARGN} test_support)
  endif()
  set(${out_target} ${target} PARENT_SCOPE)
endfunction()

function(zepi_add_test)
  if(NOT ZEPI_TESTS)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 0 TEST "CRITERION;SERIAL;LONG;ASAN;DISCRETE" "NAME;LABEL;TIMEOUT"
                        "SOURCES;FIXTURES;LIBS;DEPENDS;ARGS")
  if(TEST_UNPARSED_ARGUMENTS OR NOT TEST_NAME OR NOT TEST_SOURCES)
    message(FATAL_ERROR "zepi_add_test(${ARGV}): needs NAME and SOURCES, and does not know "
                        "'${TEST_UNPARSED_ARGUMENTS}'")
  endif()
  if(NOT TEST_LABEL)
    string(REGEX REPLACE "\\..*" "" TEST_LABEL "${TEST_NAME}")
  endif()
  if(NOT TEST_LABEL IN_LIST ZEPI_TEST_TIERS)
    message(FATAL_ERROR "zepi_add_test(${TEST_NAME}): no tier '${TEST_LABEL}' among "
                        "${ZEPI_TEST_TIERS}")
  endif()

  if(TEST_CRITERION AND ZEPI_SANITIZER MATCHES "thread")
    return()
  endif()

  if(TEST_CRITERION AND NOT CRITERION_FOUND)
    zepi_add_skipped_test(${TEST_NAME} "${TEST_LABEL}" "there is no Criterion (libcriterion-dev)")
    return()
  endif()

  add_executable(${TEST_NAME} ${TEST_SOURCES})
  set_target_properties(${TEST_NAME} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
  # These need not be fast, and compile in half the time.
  if(NOT TEST_LABEL STREQUAL "stress")
    target_compile_options(${TEST_NAME} PRIVATE -O0)
  endif()
  foreach(source IN LISTS TEST_FIXTURES)
    zepi_add_fixture(fixture "${source}" ${TEST_LIBS})
    target_link_libraries(${TEST_NAME} PRIVATE ${fixture})
  endforeach()
  target_link_libraries(${TEST_NAME} PRIVATE ${TEST_LIBS} test_support)
  if(TEST_CRITERION)
    target_link_libraries(${TEST_NAME} PRIVATE test_criterion)
  endif()
  add_dependencies(${TEST_NAME} test_device_code ze_cpu zepi_plugin ${TEST_DEPENDS})
  add_dependencies(tests_${TEST_LABEL} ${TEST_NAME})

  set(labels "${TEST_LABEL}")
  if(TEST_LONG)
    list(APPEND labels long)
  endif()
  if(TEST_ASAN)
    list(APPEND labels asan)
    add_dependencies(tests_asan ${TEST_NAME})
  endif()
  add_test(NAME ${TEST_NAME} COMMAND ${TEST_NAME} ${TEST_ARGS})
  zepi_set_test_properties(${TEST_NAME} "${labels}" "${TEST_TIMEOUT}" ${TEST_SERIAL})
  if(TEST_DISCRETE)
    zepi_add_discrete_test(${TEST_NAME} "${TEST_TIMEOUT}" ${TEST_SERIAL} COMMAND ${TEST_NAME} ${TEST_ARGS})
  endif()
endfunction()

# A test that cannot be had here: it is skipped, and says why.
function(zepi_add_skipped_test name label reason)
  add_test(NAME ${name} COMMAND sh -c "echo 'skipped: ${reason}'; exit 77")
  set_tests_properties(${name} PROPERTIES LABELS "${label}" SKIP_RETURN_CODE 77)
endfunction()

# The test `name` once more, as name.discrete.
function(zepi_add_discrete_test name timeout serial)
  add_test(NAME ${name}.discrete ${ARGN})
  set(labels discrete)
  if(NOT name IN_LIST ZEPI_DISCRETE_TESTS)
    list(APPEND labels long)
  endif()
  zepi_set_test_properties(${name}.discrete "${labels}" "${timeout}" ${serial})
  set_property(TEST ${name}.discrete APPEND PROPERTY ENVIRONMENT ZE_CPU_INTEGRATED=0)
endfunction()

# The test `name` of a tier once more, as name.variant, with VARIABLE=VALUE in its environment.
function(zepi_add_variant name variant label setting)
  if(TARGET ${name})
    add_test(NAME ${name}.${variant} COMMAND ${name})
    zepi_set_test_properties(${name}.${variant} "${label}" "" FALSE)
    set_property(TEST ${name}.${variant} APPEND PROPERTY ENVIRONMENT ${setting})
  endif()
endfunction()

# The model test `name` of a tier once more, as name.long, for so many seconds.
function(zepi_add_long_model name label seconds)
  if(TARGET ${name})
    math(EXPR timeout "${seconds} + 120")
    add_test(NAME ${name}.long COMMAND ${name})
    zepi_set_test_properties(${name}.long "${label};long" ${timeout} FALSE)
    set_property(TEST ${name}.long APPEND PROPERTY ENVIRONMENT MODEL_SECONDS=${seconds}
                 ZEPI_TEST_SECONDS=${timeout})
  endif()
endfunction()

# For tests that add_test() names by hand (scripts): label, time limit in seconds ("" for the usual
# one), and whether it runs alone.
function(zepi_set_test_properties name label timeout serial)
  if(NOT timeout)
    set(timeout 60)
  endif()
  if(ZEPI_SANITIZER)
    math(EXPR timeout "4 * ${timeout}")
    set_tests_properties(${name} PROPERTIES
      # Criterion takes no notice of a worker process that ends badly after its test has passed, and
      # leaks are found just then.
      FAIL_REGULAR_EXPRESSION "(ERROR|WARNING): [A-Za-z]+Sanitizer:|: runtime error: "
      # The sanitizer calls dlopen in place of ze_cpu, whose path of libraries then does not count.
      # Test programs have these compiled in, but zepi's own commands have not.
      ENVIRONMENT "LSAN_OPTIONS=suppressions=${CMAKE_SOURCE_DIR}/tests/support/lsan.supp;\
TSAN_OPTIONS=suppressions=${CMAKE_SOURCE_DIR}/tests/support/tsan.supp;\
ZE_CPU_OPENCL=${ZEPI_VENV}/lib/libintelocl.so")
  endif()
  # Those that may take longest start first.
  set_tests_properties(${name} PROPERTIES
    LABELS "${label}" TIMEOUT "${timeout}" COST "${timeout}" RUN_SERIAL "${serial}" SKIP_RETURN_CODE 77)
  # One folder a build: a kernel is compiled once for all processes of the tests.
  set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT "ZE_CPU_CODE_FOLDER=${CMAKE_BINARY_DIR}/tests/code")
  # Threads of numpy that wait for work would keep a processor busy.
  set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT "OPENBLAS_NUM_THREADS=1")
  # Programs that do not know test_env.h, which has the same default.
  if(label MATCHES "^runtime")
    set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT "ZE_CPU_REORDER=${ZEPI_REORDER_SEED}")
  endif()
endfunction()
