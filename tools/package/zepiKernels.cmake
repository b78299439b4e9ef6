# SPDX-License-Identifier: MIT
# zepi_add_kernels(TARGET FILE.cl... [SPIRV_VERSION VERSION] [FLAGS FLAG...])
#
# Compiles OpenCL C to SPIR-V when TARGET, an executable or library, is built. FILE.spv is in the current build
# folder; FILE.spv.h has its bytes for C and C++: static const unsigned char FILE_spv[]. Flags go to clang.
#
# Needs CMake 3.21, and clang and llvm-spirv of one version: the newest pair of clang-N and llvm-spirv-N, or those of
# ZEPI_CLANG and ZEPI_LLVM_SPIRV.

# As a script: cmake -DSPIRV=FILE -DHEADER=FILE -DNAME=NAME -P zepiKernels.cmake writes a header.
if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  file(READ "${SPIRV}" bytes HEX)
  string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  file(WRITE "${HEADER}" "static const unsigned char ${NAME}[] = {\n${bytes}};\n")
  return()
endif()
set(ZEPI_KERNELS_SCRIPT "${CMAKE_CURRENT_LIST_FILE}")

# Sets ZEPI_CLANG and ZEPI_LLVM_SPIRV in the cache, unless they are set: the newest pair of one version, if there is one.
function(zepi_find_device_compiler)
  foreach(version RANGE 40 14 -1)
    find_program(clang clang-${version} NO_CACHE)
    find_program(llvm_spirv llvm-spirv-${version} NO_CACHE)
    if(clang AND llvm_spirv)
      set(ZEPI_CLANG "${clang}" CACHE FILEPATH "clang that compiles OpenCL C to LLVM bitcode")
      set(ZEPI_LLVM_SPIRV "${llvm_spirv}" CACHE FILEPATH "Translator of the same version to SPIR-V")
      return()
    endif()
    unset(clang)
    unset(llvm_spirv)
  endforeach()
endfunction()

function(zepi_add_kernels target)
  cmake_parse_arguments(PARSE_ARGV 1 KERNELS "" "SPIRV_VERSION" "FLAGS")
  if(NOT TARGET ${target})
    message(FATAL_ERROR "zepi_add_kernels: there is no target '${target}'")
  endif()
  zepi_find_device_compiler()
  if(NOT ZEPI_CLANG OR NOT ZEPI_LLVM_SPIRV)
    message(FATAL_ERROR "zepi_add_kernels: clang-N and llvm-spirv-N of one version are not there: install "
                        "them, or set ZEPI_CLANG and ZEPI_LLVM_SPIRV")
  endif()
  if(NOT KERNELS_SPIRV_VERSION)
    set(KERNELS_SPIRV_VERSION 1.2)
  endif()
  foreach(source IN LISTS KERNELS_UNPARSED_ARGUMENTS)
    get_filename_component(source "${source}" ABSOLUTE)
    get_filename_component(name "${source}" NAME_WE)
    string(MAKE_C_IDENTIFIER "${name}_spv" array)
    set(path "${CMAKE_CURRENT_BINARY_DIR}/${name}")
    add_custom_command(
      OUTPUT "${path}.spv" "${path}.spv.h"
      BYPRODUCTS "${path}.bc"
      COMMAND "${ZEPI_CLANG}" -c -target spir64 -cl-std=CL3.0 -Xclang -finclude-default-header ${KERNELS_FLAGS}
              -emit-llvm -o "${path}.bc" "${source}"
      COMMAND "${ZEPI_LLVM_SPIRV}" --spirv-max-version=${KERNELS_SPIRV_VERSION} -o "${path}.spv" "${path}.bc"
      COMMAND "${CMAKE_COMMAND}" "-DSPIRV=${path}.spv" "-DHEADER=${path}.spv.h" "-DNAME=${array}"
              -P "${ZEPI_KERNELS_SCRIPT}"
      DEPENDS "${source}" "${ZEPI_KERNELS_SCRIPT}"
      COMMENT "Compiling ${name}.cl to SPIR-V"
      VERBATIM)
    target_sources(${target} PRIVATE "${path}.spv.h")
  endforeach()
  target_include_directories(${target} PRIVATE "${CMAKE_CURRENT_BINARY_DIR}")
endfunction()
