# SPDX-License-Identifier: MIT
# zepi_write_ur_slots(FILE DDI_HEADER)
#
# Writes what tests need of Unified Runtime's tables, from the header itself:
#   UR_TABLES(X)  X(Adapter) X(Platform) ...: each table, as urGet...ProcAddrTable names it
#   UR_SLOTS(X)   X("urAdapterGet", Adapter, pfnGet) ...: each function, its table and its slot
#   urAdapterGet  and every other function: the slot of the tables that ur_fixture.h declares
function(zepi_write_ur_slots file header)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${header}")
  file(READ "${header}" text)
  string(REPLACE ";" "," text "${text}") # which would end an element of a list
  string(REGEX MATCH "struct ur_dditable_t {[^}]*}" all_tables "${text}")
  string(REGEX MATCHALL "struct ur_[a-z0-9_]+_dditable_t {[^}]*}" tables "${text}")
  set(table_list "")
  set(slot_list "")
  set(names "")
  foreach(table IN LISTS tables)
    string(REGEX MATCH "ur_[a-z0-9_]+_dditable_t" type "${table}")
    string(REGEX MATCH "${type} ([A-Za-z0-9]+)," found "${all_tables}")
    set(member "${CMAKE_MATCH_1}")
    string(APPEND table_list " \\\n    X(${member})")
    string(REGEX MATCHALL "ur_pfn[A-Za-z0-9]+_t[ \n]+pfn[A-Za-z0-9]+," slots "${table}")
    foreach(slot IN LISTS slots)
      string(REGEX MATCH "ur_pfn([A-Za-z0-9]+)_t[ \n]+(pfn[A-Za-z0-9]+)," found "${slot}")
      string(APPEND slot_list " \\\n    X(\"ur${CMAKE_MATCH_1}\", ${member}, ${CMAKE_MATCH_2})")
      string(APPEND names "#define ur${CMAKE_MATCH_1} ur.${member}.${CMAKE_MATCH_2}\n")
    endforeach()
  endforeach()
  file(CONFIGURE OUTPUT "${file}" @ONLY CONTENT
    "#define UR_TABLES(X)${table_list}\n\n#define UR_SLOTS(X)${slot_list}\n\n${names}")
endfunction()
