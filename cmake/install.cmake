# Installs the library, its public headers, a CMake package and a pkg-config file.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/troupe)
set(staged ${PROJECT_BINARY_DIR}/package)

install(TARGETS troupe EXPORT troupe-targets FILE_SET HEADERS FILE_SET adaptors)
install(EXPORT troupe-targets NAMESPACE troupe:: DESTINATION ${package_dir})

configure_package_config_file(cmake/troupe-config.cmake.in ${staged}/troupe-config.cmake
  INSTALL_DESTINATION ${package_dir}
  NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
# Before 1.0 a minor version may break what the one before it promised.
write_basic_package_version_file(${staged}/troupe-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${staged}/troupe-config.cmake
  ${staged}/troupe-config-version.cmake
  cmake/FindAsio.cmake
  DESTINATION ${package_dir})

# The pkg-config file says where things are relative to itself, so an install tree can be moved;
# directories configured as absolute paths are taken as they are.
set(pc_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
foreach(kind LIBDIR INCLUDEDIR)
  if(IS_ABSOLUTE ${CMAKE_INSTALL_${kind}})
    set(PC_${kind} ${CMAKE_INSTALL_${kind}})
  else()
    set(PC_${kind} "\${prefix}/${CMAKE_INSTALL_${kind}}")
  endif()
endforeach()
if(IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR})
  set(PC_PREFIX ${CMAKE_INSTALL_PREFIX})
else()
  cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX
    BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX}/${pc_dir} OUTPUT_VARIABLE PC_PREFIX)
  string(REGEX REPLACE "/$" "" PC_PREFIX "\${pcfiledir}/${PC_PREFIX}")
endif()
configure_file(cmake/troupe.pc.in ${staged}/troupe.pc @ONLY)
install(FILES ${staged}/troupe.pc DESTINATION ${pc_dir})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
