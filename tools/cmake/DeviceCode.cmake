# SPDX-License-Identifier: MIT
# zepi_add_device_code(TARGET OUTPUT_DIR FILE.cl... [CLANG_FLAGS FLAG...] [SPIRV_FLAGS FLAG...])
#
# Compiles OpenCL C to SPIR-V at build time: FILE.cl becomes OUTPUT_DIR/FILE.spv. TARGET is a custom
# target that other targets may depend on. The same file name in two calls needs two output folders.
# More flags go to the compiler and to the translator.
#
# -funroll-loops unrolls nothing here: it keeps clang from marking every loop as not to be unrolled,
# for which llvm-spirv 15 writes OpLoopMerge in a place that SPIR-V does not allow.
find_program(ZEPI_CLANG NAMES clang-15 REQUIRED
             DOC "clang that compiles OpenCL C to LLVM bitcode")
find_program(ZEPI_LLVM_SPIRV NAMES llvm-spirv-15 REQUIRED
             DOC "Translator from LLVM bitcode of the same version to SPIR-V")

function(zepi_add_device_code target output_dir)
  cmake_parse_arguments(PARSE_ARGV 2 CODE "" "" "CLANG_FLAGS;SPIRV_FLAGS")
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
              ${CODE_CLANG_FLAGS} -finclude-default-header -emit-llvm-bc -o "${bitcode}" "${source}"
      COMMAND "${ZEPI_LLVM_SPIRV}" --spirv-max-version=1.2 ${CODE_SPIRV_FLAGS} -o "${spirv}" "${bitcode}"
      DEPENDS "${source}"
      COMMENT "Compiling ${name}.cl to SPIR-V"
      VERBATIM)
    list(APPEND outputs "${spirv}")
  endforeach()
  add_custom_target(${target} ALL DEPENDS ${outputs})
endfunction()
