# SPDX-License-Identifier: MIT
# Run by cpack after it packed: takes the scripts out that call ldconfig, for which the package has a trigger, and
# recommends what the shared store alone needs.
foreach(package IN LISTS CPACK_PACKAGE_FILES)
  set(folder "${CPACK_TEMPORARY_DIRECTORY}/repacked")
  file(REMOVE_RECURSE "${folder}")
  execute_process(COMMAND dpkg-deb -R "${package}" "${folder}" COMMAND_ERROR_IS_FATAL ANY)
  if(EXISTS "${folder}/DEBIAN/triggers")
    file(REMOVE "${folder}/DEBIAN/postinst" "${folder}/DEBIAN/postrm")
    file(READ "${folder}/DEBIAN/control" control)
    string(REGEX MATCHALL "(libhiredis|libssl)[^,\n]*" optional "${control}")
    string(REGEX REPLACE ", (libhiredis|libssl)[^,\n]*" "" control "${control}")
    list(APPEND optional "")
    list(JOIN optional ", " optional)
    string(REPLACE "Recommends: " "Recommends: ${optional}" control "${control}")
    file(WRITE "${folder}/DEBIAN/control" "${control}")
    execute_process(COMMAND dpkg-deb --root-owner-group -b "${folder}" "${package}" OUTPUT_QUIET
                    COMMAND_ERROR_IS_FATAL ANY)
  endif()
endforeach()
