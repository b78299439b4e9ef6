# SPDX-License-Identifier: MIT
# Files of cmake --install with their places, and the Debian package (cpack -G DEB). Every path is found from
# where the files lie, so that the folder may be moved.
include(CMakePackageConfigHelpers)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME zepi)
set(package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/zepi")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Level Zero backend for SYCL runtimes")
set(package_files "${PROJECT_SOURCE_DIR}/tools/package")

install(TARGETS zepi_plugin EXPORT zepi
        LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT zepi NAMELINK_COMPONENT dev
        INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
set_target_properties(zepi_plugin PROPERTIES EXPORT_NAME zepi)
if(TARGET ze_cpu)
  install(TARGETS ze_cpu LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" NAMELINK_SKIP)
endif()
# Libraries that no host names.
install(TARGETS zepi_core_shared EXPORT zepi LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/zepi")
set_target_properties(zepi_core_shared PROPERTIES EXPORT_NAME core)
if(TARGET zepi_shared_library)
  install(TARGETS zepi_shared_library LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/zepi")
endif()
install(TARGETS zepi_compiler RUNTIME DESTINATION "${CMAKE_INSTALL_LIBDIR}/zepi")
if(TARGET zepi_ur_adapter)
  install(TARGETS zepi_ur_adapter LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
  install(TARGETS zepi_ur_adapter_level_zero zepi_ur_adapter_level_zero_v2
          LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/zepi/adapters")
endif()
if(TARGET zepi_cli)
  install(TARGETS zepi_cli RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
  install(FILES "${package_files}/zepi.1" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
  install(FILES "${package_files}/completion.bash" RENAME zepi
          DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions")
endif()
install(FILES "${PROJECT_SOURCE_DIR}/include/zepi/zepi.h" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/zepi"
        COMPONENT dev)
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}" RENAME copyright)
# Its code is compiled in.
install(FILES "${package_files}/xxhash.txt" DESTINATION "${CMAKE_INSTALL_DOCDIR}")

# pkg-config: the prefix as seen from the folder of zepi.pc.
set(pc_url "")
if(ZEPI_HOMEPAGE)
  set(pc_url "\nURL: ${ZEPI_HOMEPAGE}")
endif()
file(RELATIVE_PATH prefix_from_pc "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
configure_file("${package_files}/zepi.pc.in" "${PROJECT_BINARY_DIR}/package/zepi.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/package/zepi.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT dev)

# CMake: find_package(zepi), target zepi::zepi, zepi_add_kernels(). While the interface is 0.x, any minor version may
# change it.
install(EXPORT zepi NAMESPACE zepi:: FILE zepiTargets.cmake DESTINATION "${package_folder}"
        COMPONENT dev)
configure_package_config_file("${package_files}/zepiConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/package/zepiConfig.cmake" INSTALL_DESTINATION "${package_folder}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/package/zepiConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/package/zepiConfig.cmake"
              "${PROJECT_BINARY_DIR}/package/zepiConfigVersion.cmake" "${package_files}/zepiKernels.cmake"
        DESTINATION "${package_folder}" COMPONENT dev)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME zepi)
set(CPACK_PACKAGE_CONTACT "${ZEPI_CONTACT}")
set(CPACK_PACKAGE_DIRECTORY "${PROJECT_BINARY_DIR}/package")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
# Two packages: zepi, and libzepi-dev for programs that are compiled.
set(CPACK_COMPONENTS_ALL zepi dev)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_ZEPI_PACKAGE_NAME zepi)
set(CPACK_DEBIAN_ZEPI_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_ZEPI_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_ZEPI_PACKAGE_RECOMMENDS "libze-intel-gpu1 | intel-opencl-icd")
file(WRITE "${PROJECT_BINARY_DIR}/package/shlibs"
     "libzepi ${PROJECT_VERSION_MAJOR} zepi (>= ${PROJECT_VERSION})\nlibze_cpu 1 zepi (>= ${PROJECT_VERSION})\n")
set(CPACK_DEBIAN_ZEPI_PACKAGE_CONTROL_EXTRA "${package_files}/triggers;${PROJECT_BINARY_DIR}/package/shlibs")
set(CPACK_DEBIAN_DEV_PACKAGE_NAME libzepi-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "zepi (= ${PROJECT_VERSION})")
set(CPACK_PRE_BUILD_SCRIPTS "${package_files}/debian.cmake")
set(CPACK_POST_BUILD_SCRIPTS "${package_files}/debian_control.cmake")
set(CPACK_ZEPI_SOURCE "${PROJECT_SOURCE_DIR}")
set(CPACK_ZEPI_LIBRARY_FOLDER "${CMAKE_INSTALL_LIBDIR}")
set(CPACK_ZEPI_ARCHITECTURE "${CMAKE_LIBRARY_ARCHITECTURE}")
# The loader is opened at run time, so that no tool finds it in the files.
set(CPACK_DEBIAN_ZEPI_PACKAGE_DEPENDS "libze1 (>= 1.8.12)")
if(ZEPI_HOMEPAGE)
  set(CPACK_DEBIAN_PACKAGE_HOMEPAGE "${ZEPI_HOMEPAGE}")
endif()
set(CPACK_COMPONENT_ZEPI_DESCRIPTION "An adapter of Unified Runtime that the DPC++ runtime loads in place
of Intel's for Level Zero, the same as a plugin for runtimes in C, a
Level Zero driver for CPUs, and the command zepi.")
set(CPACK_COMPONENT_DEV_DESCRIPTION "The header of zepi's plugin for runtimes in C, and the files of CMake
and pkg-config that find it.")
include(CPack)
