# SPDX-License-Identifier: MIT
# Parts of zepi that can be left out. The cache variable of a part is AUTO (built where what it needs is there),
# ON (else configuring fails) or OFF.
#
# zepi_choose_part(VARIABLE PART LACK DETAIL): LACK is what is missing, "" if nothing is; DETAIL describes a
# part that is built. Sets VARIABLE_BUILT. zepi_print_parts() prints a line for each part.
function(zepi_choose_part variable part lack detail)
  set(${variable} AUTO CACHE STRING "Build the ${part}: AUTO, ON (or fail) or OFF")
  set_property(CACHE ${variable} PROPERTY STRINGS AUTO ON OFF)
  set(built OFF)
  if("${${variable}}" STREQUAL "AUTO")
    if(lack STREQUAL "")
      set(built ON)
    endif()
  elseif(${variable})
    if(NOT lack STREQUAL "")
      message(FATAL_ERROR "${variable}=${${variable}}: the ${part} cannot be built: ${lack}")
    endif()
    set(built ON)
  else()
    set(lack "${variable}=${${variable}}")
  endif()
  if(built)
    set(line "built${detail}")
  else()
    set(line "NOT built: ${lack}")
  endif()
  set(${variable}_BUILT ${built} PARENT_SCOPE)
  set_property(GLOBAL APPEND PROPERTY ZEPI_PARTS "${part} (${variable}): ${line}")
endfunction()

function(zepi_print_parts)
  get_property(lines GLOBAL PROPERTY ZEPI_PARTS)
  message(STATUS "zepi ${PROJECT_VERSION}: plugin for runtimes in C: built")
  foreach(line IN LISTS lines)
    message(STATUS "zepi ${PROJECT_VERSION}: ${line}")
  endforeach()
endfunction()
