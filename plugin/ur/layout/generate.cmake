# SPDX-License-Identifier: MIT
# The layouts of Unified Runtime's tables, from the lists of functions of the releases. Such a list,
# ur_api_funcs.def, names the functions in the order of the tables: of the 250 of 2026.2 241 are in tables, the
# others are the loader's own.

# The tables of all releases, in the order in which they follow each other.
set(ZEPI_UR_TABLES
  Adapter Platform Context Event EventExp Program ProgramExp Kernel Queue QueueExp Sampler Mem
  PhysicalMem Enqueue EnqueueExp USM USMExp BindlessImagesExp CommandBufferExp GraphExp IPCExp
  MemoryExportExp UsmP2PExp VirtualMem Device DeviceExp)

# _zepi_ur_table(FUNCTION): sets `table`, of a function's name; "" is no table's. The longest table's name
# counts: urUsmP2P... is not of USM.
macro(_zepi_ur_table function)
  set(table "")
  foreach(candidate IN LISTS ZEPI_UR_TABLES)
    string(REGEX REPLACE "Exp$" "" noun "${candidate}")
    string(REGEX REPLACE "^${noun}" "" suffix "${candidate}")
    if("${function}" MATCHES "^ur${noun}[A-Z].*${suffix}$")
      string(LENGTH "${noun}" length)
      string(LENGTH "${table}" longest)
      # A function of the experimental table is not one of the plain table of the same noun.
      if(suffix STREQUAL "Exp" OR NOT ("${function}" MATCHES "Exp$" AND "${noun}Exp" IN_LIST ZEPI_UR_TABLES))
        set(table "${candidate}")
      endif()
    endif()
  endforeach()
endmacro()

# _zepi_ur_layout(WORD DEFINITIONS BIT): appends the layout of a release to `layouts`, and its functions to
# `all`; bits_FUNCTION gets the release's bit.
macro(_zepi_ur_layout word definitions bit)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${definitions}")
  file(STRINGS "${definitions}" lines REGEX "^_UR_API")
  set(present "")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "_UR_API\\((.*)\\).*" "\\1" function "${line}")
    _zepi_ur_table("${function}")
    if(NOT table)
      continue()
    endif()
    list(APPEND all "${function}")
    if(NOT DEFINED bits_${function})
      set(bits_${function} 0)
    endif()
    math(EXPR bits_${function} "${bits_${function}} | ${bit}")
    if(NOT table IN_LIST present)
      list(APPEND present "${table}")
      set(slots_${table} "")
      set(count_${table} 0)
    endif()
    set(implementations "zepi_${function}")
    if(function IN_LIST older_${word})
      set(implementations "zepi_${function}_older")
    endif()
    if(function IN_LIST gap_after_${word})
      list(APPEND implementations zepi_urReserved)
    endif()
    foreach(implementation IN LISTS implementations)
      string(APPEND slots_${table} " \\\n    X(${function}, ${implementation})")
      math(EXPR count_${table} "${count_${table}} + 1")
    endforeach()
  endforeach()
  set(slots "")
  set(places "")
  set(first 0)
  foreach(table IN LISTS present)
    string(APPEND slots "${slots_${table}}")
    string(APPEND places " \\\n    X(${table}, ${first}, ${count_${table}})")
    math(EXPR first "${first} + ${count_${table}}")
  endforeach()
  string(APPEND layouts "#define ZEPI_UR_SLOTS_${word}(X)${slots}\n\n#define ZEPI_UR_PLACES_${word}(X)${places}\n\n")
endmacro()

# zepi_write_ur_layouts(FILE RELEASE DEFINITIONS [RELEASE DEFINITIONS]...), the newest release last
#
# FILE gets, from the releases' ur_api_funcs.def:
#   ZEPI_UR_RELEASES(X)       X(2025_3, "2025.3") ...: as given, the first has bit 0
#   ZEPI_UR_TABLES(X)         X(Adapter) ...: tables of any release
#   ZEPI_UR_FUNCTIONS(X)      X(urAdapterGet, 15) ...: every function of a table, in the order of strcmp,
#                             with the bits of the releases that have it
#   ZEPI_UR_SLOTS_2025_3(X)   X(urAdapterGet, zepi_urAdapterGet) ...: all tables of a release, function by
#                             function: its name, and the function that stands behind it
#   ZEPI_UR_PLACES_2025_3(X)  X(Adapter, 0, 7) ...: a release's tables: the first slot, their number
#   ZEPI_UR_NEWEST_SLOTS      those of the newest release
# Behind the functions of a variable older_2025_3 stands zepi_urName_older. Behind the slot of a function of
# gap_after_2025_3 is one of a function that the release's header does not have: zepi_urReserved stands there.
function(zepi_write_ur_layouts file)
  set(releases "")
  set(layouts "")
  set(all "")
  set(bit 1)
  set(arguments ${ARGN})
  while(arguments)
    list(POP_FRONT arguments release definitions)
    string(REPLACE "." "_" word "${release}")
    string(APPEND releases " \\\n    X(${word}, \"${release}\")")
    _zepi_ur_layout(${word} "${definitions}" ${bit})
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
    "#define ZEPI_UR_RELEASES(X)${releases}\n\n#define ZEPI_UR_TABLES(X)${tables}\n\n#define ZEPI_UR_FUNCTIONS(X)${functions}\n\n${layouts}#define ZEPI_UR_NEWEST_SLOTS ZEPI_UR_SLOTS_${word}\n")
endfunction()

# zepi_write_ur_refused(FILE HEADER REASON FUNCTION... [REASON FUNCTION...]...)
#
# FILE gets, from ur_api.h:
#   ZEPI_UR_REFUSED(X)   X(urEventSetCallback, NO_CALLBACKS, (ur_event_handle_t hEvent, ...)) ...: the functions
#                        with their reasons and parameters
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
