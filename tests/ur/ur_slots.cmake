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

# zepi_write_ur_queries(FILE API_HEADER)
#
# Writes what UR's header says of each query, one list an enumeration:
#   UR_QUERIES_ur_device_info_t(X)  X(UR_DEVICE_INFO_TYPE, ur_device_type_t, 1, 0) ...
# the query, the type of its answer, how many of them (0: any number), and whether an adapter may
# leave it without answer.
function(zepi_write_ur_queries file header)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${header}")
  file(READ "${header}" text)
  # Characters that have a meaning in CMake's lists.
  string(REPLACE ";" "," text "${text}")
  string(REPLACE "[" "<" text "${text}")
  string(REPLACE "]" ">" text "${text}")
  string(REPLACE " <<deprecated>>" "_is_deprecated" text "${text}") # which compilers warn of
  string(REGEX MATCHALL "typedef enum ur_[a-z0-9_]*info_t {[^}]*}" enumerations "${text}")
  set(content "")
  foreach(enumeration IN LISTS enumerations)
    string(REGEX MATCH "ur_[a-z0-9_]*info_t" name "${enumeration}")
    string(REGEX REPLACE "\n *///" " " enumeration "${enumeration}") # comments become one line
    string(REPLACE "\n" ";" lines "${enumeration}")
    set(rows "")
    foreach(line IN LISTS lines)
      # The comment is at the end of the line before the name.
      if(line MATCHES "^ *(UR_[A-Z0-9_]+) =" AND NOT line MATCHES "0x7fffffff")
        string(REGEX MATCH "UR_[A-Z0-9_]+" query "${line}")
        if(comment MATCHES "<(::)?([a-z0-9_ *]+)(<([0-9]*)>)?>")
          set(type "${CMAKE_MATCH_2}")
          set(count 1)
          if(CMAKE_MATCH_3)
            set(count "${CMAKE_MATCH_4}")
          endif()
          if(count STREQUAL "")
            set(count 0)
          endif()
          set(optional 0)
          if(comment MATCHES "<optional-query>")
            set(optional 1)
          endif()
          string(APPEND rows " \\\n    X(${query}, ${type}, ${count}, ${optional})")
        elseif(NOT name STREQUAL "ur_execution_info_t") # whose names are no queries
          message(FATAL_ERROR "${header}: no type of the answer is said of ${query}")
        endif()
      endif()
      set(comment "${line}")
    endforeach()
    string(APPEND content "#define UR_QUERIES_${name}(X)${rows}\n\n")
  endforeach()
  file(CONFIGURE OUTPUT "${file}" CONTENT "${content}" @ONLY)
endfunction()
