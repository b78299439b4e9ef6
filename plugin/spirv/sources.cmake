# SPDX-License-Identifier: MIT
# Sets SPIRV_SOURCES: the sources of the SPIR-V parser, for the plugin and for tools/ze_cpu.
set(SPIRV_SOURCES
    "${CMAKE_CURRENT_LIST_DIR}/spirv.c"
    "${CMAKE_CURRENT_LIST_DIR}/spirv_decorations.c"
    "${CMAKE_CURRENT_LIST_DIR}/spirv_grammar.c"
    "${CMAKE_CURRENT_LIST_DIR}/spirv_instructions.c"
    "${CMAKE_CURRENT_LIST_DIR}/spirv_kernels.c"
    "${CMAKE_CURRENT_LIST_DIR}/spirv_operands.c"
    "${CMAKE_CURRENT_LIST_DIR}/spirv_types.c"
    "${CMAKE_CURRENT_LIST_DIR}/spirv_parser.c")
