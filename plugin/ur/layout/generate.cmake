# SPDX-License-Identifier: MIT
# The layouts of Unified Runtime's tables: their common part, and the part that each release's headers give. A
# header ur_api_funcs.def lists the functions in the order of the tables: of the 250 of 2026.2 241 are in
# tables, the others are the loader's own.

# The tables of all releases, in the order in which they follow each other.
set(ZEPI_UR_TABLES
  Adapter Platform Context Event EventExp Program ProgramExp Kernel Queue QueueExp Sampler Mem
  PhysicalMem Enqueue EnqueueExp USM USMExp BindlessImagesExp CommandBufferExp GraphExp IPCExp
  MemoryExportExp UsmP2PExp VirtualMem Device DeviceExp)

# _zepi_ur_table(FUNCTION): sets `table` and `slot` of a function's name; no table is its own. The
# longest table's name counts: urUsmP2P... is not of USM.
macro(_zepi_ur_table function)
  set(table "")
  set(slot "")
  foreach(candidate IN LISTS ZEPI_UR_TABLES)
    string(REGEX REPLACE "Exp$" "" noun "${candidate}")
    string(REGEX REPLACE "^${noun}" "" suffix "${candidate}")
    if("${function}" MATCHES "^ur${noun}([A-Z].*${suffix})$")
      set(found "${CMAKE_MATCH_1}")
      string(LENGTH "${noun}" length)
      string(LENGTH "${table}" longest)
      # A function of the experimental table is not one of the plain table of the same noun.
      if(suffix STREQUAL "Exp" OR NOT ("${function}" MATCHES "Exp$" AND "${noun}Exp" IN_LIST ZEPI_UR_TABLES))
        set(table "${candidate}")
        set(slot "pfn${found}")
      endif()
    endif()
  endforeach()
endmacro()

# zepi_write_ur_layout(FILE DEFINITIONS [OWN FUNCTION...] [GAP_AFTER FUNCTION...])
#
# FILE gets, from the release's ur_api_funcs.def:
#   ZEPI_UR_LAYOUT_TABLES(X)      X(Adapter) X(Platform) ...: the release's tables
#   ZEPI_UR_LAYOUT_SLOTS_Adapter(X)  X(pfnGet, urAdapterGet, zepi_urAdapterGet) ...: what is in each:
#                                 slot, function, the function that stands behind it
# OWN functions have other parameters in this release than in the newest: zepi_urName_own stands behind
# them. Behind the slot of a function of GAP_AFTER is one of a function that the header does not have:
# zepi_urReserved stands there.
function(zepi_write_ur_layout file definitions)
  cmake_parse_arguments(PARSE_ARGV 2 LAYOUT "" "" "OWN;GAP_AFTER")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${definitions}")
  file(STRINGS "${definitions}" lines REGEX "^_UR_API")
  set(present "")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "_UR_API\\((.*)\\).*" "\\1" function "${line}")
    _zepi_ur_table("${function}")
    if(table)
      set(implementation "zepi_${function}")
      if("${function}" IN_LIST LAYOUT_OWN)
        string(APPEND implementation "_own")
      endif()
      string(APPEND slots_${table} " \\\n    X(${slot}, ${function}, ${implementation})")
      if("${function}" IN_LIST LAYOUT_GAP_AFTER)
        string(APPEND slots_${table} " \\\n    X(pfnReserved, zepi_ur_reserved, zepi_urReserved)")
      endif()
      list(APPEND present "${table}")
    endif()
  endforeach()
  list(REMOVE_DUPLICATES present)
  set(table_list "")
  set(slot_lists "")
  foreach(name IN LISTS present)
    string(APPEND table_list " \\\n    X(${name})")
    string(APPEND slot_lists "#define ZEPI_UR_LAYOUT_SLOTS_${name}(X)${slots_${name}}\n\n")
  endforeach()
  file(CONFIGURE OUTPUT "${file}" @ONLY CONTENT
    "#define ZEPI_UR_LAYOUT_TABLES(X)${table_list}\n\n${slot_lists}")
endfunction()

# zepi_write_ur_refused(FILE HEADER REASON FUNCTION... [REASON FUNCTION...]...)
#
# FILE gets, from the release's ur_api.h:
#   ZEPI_UR_REFUSED(X)   X(urEventSetCallback, NO_CALLBACKS, (ur_event_handle_t hEvent, ...)) ...: those of
#                        the functions that the release has, with their parameters
function(zepi_write_ur_refused file header)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${header}")
  file(READ "${header}" text)
  string(REGEX REPLACE "\n *///[^\n]*" "" text "${text}") # comments, whose brackets mean something in a list
  set(rows "")
  foreach(word IN LISTS ARGN)
    if(NOT word MATCHES "^ur")
      set(reason "${word}")
    elseif(text MATCHES "UR_APICALL[ \n]+${word}(\\([^;]*\\));")
      string(REGEX REPLACE "[ \n]+" " " parameters "${CMAKE_MATCH_1}")
      string(APPEND rows " \\\n    X(${word}, ${reason}, ${parameters})")
    endif()
  endforeach()
  file(CONFIGURE OUTPUT "${file}" @ONLY CONTENT "#define ZEPI_UR_REFUSED(X)${rows}\n")
endfunction()

# zepi_write_ur_functions(FILE RELEASE DEFINITIONS [RELEASE DEFINITIONS]...)
#
# FILE gets what the getters need of all layouts:
#   ZEPI_UR_RELEASES(X)   X(2025_3, 2025.3) ...: as given, the first has bit 0
#   ZEPI_UR_TABLES(X)     X(Adapter) ...: tables of any release
#   ZEPI_UR_FUNCTIONS(X)  X(urAdapterGet, 15) ...: every function of a table, in the order of strcmp,
#                         with the bits of the releases that have it
function(zepi_write_ur_functions file)
  set(releases "")
  set(all "")
  set(bit 1)
  set(arguments ${ARGN})
  while(arguments)
    list(POP_FRONT arguments release definitions)
    string(REPLACE "." "_" word "${release}")
    string(APPEND releases " \\\n    X(${word}, \"${release}\")")
    file(STRINGS "${definitions}" lines REGEX "^_UR_API")
    foreach(line IN LISTS lines)
      string(REGEX REPLACE "_UR_API\\((.*)\\).*" "\\1" function "${line}")
      _zepi_ur_table("${function}")
      if(table)
        list(APPEND all "${function}")
        if(NOT DEFINED bits_${function})
          set(bits_${function} 0)
        endif()
        math(EXPR bits_${function} "${bits_${function}} | ${bit}")
      endif()
    endforeach()
    math(EXPR bit "2 * ${bit}")
  endwhile()
  list(REMOVE_DUPLICATES all)
  list(SORT all COMPARE STRING CASE SENSITIVE)
  set(tables "")
  foreach(name IN LISTS ZEPI_UR_TABLES)
    string(APPEND tables " \\\n    X(${name})")
  endforeach()
  set(functions "")
  foreach(function IN LISTS all)
    string(APPEND functions " \\\n    X(${function}, ${bits_${function}})")
  endforeach()
  file(CONFIGURE OUTPUT "${file}" @ONLY CONTENT
    "#define ZEPI_UR_RELEASES(X)${releases}\n\n#define ZEPI_UR_TABLES(X)${tables}\n\n#define ZEPI_UR_FUNCTIONS(X)${functions}\n")
endfunction()
