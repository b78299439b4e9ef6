# SPDX-License-Identifier: MIT
# zepi_add_device_code(TARGET OUTPUT_DIR FILE.cl... [SPIRV_VERSION VERSION] [CLANG_FLAGS FLAG...]
#                      [SPIRV_FLAGS FLAG...])
#
# Compiles OpenCL C to SPIR-V at build time: FILE.cl becomes OUTPUT_DIR/FILE.spv. TARGET is a custom
# target that other targets may depend on. The same file name in two calls needs two output folders.
# More flags go to the compiler and to the translator.
#
# -funroll-loops unrolls nothing here: it keeps clang from marking every loop as not to be unrolled,
# for which llvm-spirv 15 writes OpLoopMerge in a place that SPIR-V does not allow.
#
# The newest clang and llvm-spirv of equal version, unless they are named.
# ZEPI_TYPED_POINTERS: flags of this clang for code with images, events or printf. Up to version 16 the
# translator knows these by the names of the structs that they are pointers to.
include("${CMAKE_CURRENT_LIST_DIR}/../package/zepiKernels.cmake")
zepi_find_device_compiler()
if(NOT ZEPI_CLANG OR NOT ZEPI_LLVM_SPIRV)
  return()
endif()
execute_process(COMMAND "${ZEPI_CLANG}" -dumpversion OUTPUT_VARIABLE clang_version)
set(ZEPI_TYPED_POINTERS)
if(clang_version VERSION_LESS 17)
  set(ZEPI_TYPED_POINTERS -no-opaque-pointers)
endif()

function(zepi_add_device_code target output_dir)
  cmake_parse_arguments(PARSE_ARGV 2 CODE "" "SPIRV_VERSION" "CLANG_FLAGS;SPIRV_FLAGS")
  if(NOT CODE_SPIRV_VERSION)
    set(CODE_SPIRV_VERSION 1.2)
  endif()
  set(outputs)
  foreach(source IN LISTS CODE_UNPARSED_ARGUMENTS)
    get_filename_component(source "${source}" ABSOLUTE)
    get_filename_component(name "${source}" NAME_WE)
    set(bitcode "${output_dir}/${name}.bc")
    set(spirv "${output_dir}/${name}.spv")
    add_custom_command(
      OUTPUT "${spirv}"
      BYPRODUCTS "${bitcode}"
      COMMAND "${CMAKE_COMMAND}" -E make_directory "${output_dir}"
      COMMAND "${ZEPI_CLANG}" -cc1 -triple spir64 -cl-std=CL3.0 -O1 -funroll-loops
              ${CODE_CLANG_FLAGS} -fdeclare-opencl-builtins -finclude-default-header
              -emit-llvm-bc -o "${bitcode}" "${source}"
      COMMAND "${ZEPI_LLVM_SPIRV}" --spirv-max-version=${CODE_SPIRV_VERSION} ${CODE_SPIRV_FLAGS}
              -o "${spirv}" "${bitcode}"
      DEPENDS "${source}"
      COMMENT "Compiling ${name}.cl to SPIR-V"
      VERBATIM)
    list(APPEND outputs "${spirv}")
  endforeach()
  add_custom_target(${target} ALL DEPENDS ${outputs})
endfunction()
