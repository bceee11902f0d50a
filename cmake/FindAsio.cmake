# Standalone Asio ships no CMake package: finds its headers and defines Asio::asio.
# It is installed beside troupe's own package, which needs it as well.
find_path(Asio_INCLUDE_DIR asio/version.hpp)
mark_as_advanced(Asio_INCLUDE_DIR)

if(Asio_INCLUDE_DIR)
  # 103002 is 1.30.2.
  file(STRINGS ${Asio_INCLUDE_DIR}/asio/version.hpp Asio_VERSION REGEX "define ASIO_VERSION ")
  string(REGEX MATCH "[0-9]+" Asio_VERSION "${Asio_VERSION}")
  math(EXPR Asio_VERSION_MAJOR "${Asio_VERSION} / 100000")
  math(EXPR Asio_VERSION_MINOR "${Asio_VERSION} / 100 % 1000")
  math(EXPR Asio_VERSION_PATCH "${Asio_VERSION} % 100")
  set(Asio_VERSION ${Asio_VERSION_MAJOR}.${Asio_VERSION_MINOR}.${Asio_VERSION_PATCH})
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Asio
  REQUIRED_VARS Asio_INCLUDE_DIR
  VERSION_VAR Asio_VERSION)

if(Asio_FOUND AND NOT TARGET Asio::asio)
  find_package(Threads REQUIRED)
  add_library(Asio::asio INTERFACE IMPORTED)
  set_target_properties(Asio::asio PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES ${Asio_INCLUDE_DIR}
    INTERFACE_COMPILE_DEFINITIONS ASIO_STANDALONE
    INTERFACE_LINK_LIBRARIES Threads::Threads)
endif()
