# The libraries: installed packages first, otherwise releases fetched from upstream.
include(FetchContent)

# A project that adds troupe as a subdirectory links these targets too.
set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL ON)

set(TROUPE_ASIO_MINIMUM 1.30)

# Fetches a release and sets <name>_SOURCE_DIR. It is downloaded before FetchContent sees it,
# because a failure then is one sentence. Its sources are not ours to warn about.
function(troupe_fetch name title url)
  string(TOUPPER ${name} upper)
  set(archive ${url})
  if(NOT FETCHCONTENT_SOURCE_DIR_${upper} AND NOT FETCHCONTENT_FULLY_DISCONNECTED)
    set(archive ${FETCHCONTENT_BASE_DIR}/${name}.tar.gz)
    if(NOT EXISTS ${archive})
      file(DOWNLOAD ${url} ${archive}.part STATUS status TLS_VERIFY ON INACTIVITY_TIMEOUT 30)
      list(POP_FRONT status code)
      if(code)
        file(REMOVE ${archive}.part)
        message(FATAL_ERROR "troupe needs ${title}: it is not installed, and ${url} cannot be "
          "fetched (${status}). Install it, or run tools/setup, or name a directory that holds "
          "its sources with -DFETCHCONTENT_SOURCE_DIR_${upper}=…")
      endif()
      file(RENAME ${archive}.part ${archive})
    endif()
  endif()
  set(CMAKE_COMPILE_WARNING_AS_ERROR OFF)
  set(CMAKE_CXX_CLANG_TIDY "")
  string(APPEND CMAKE_CXX_FLAGS " -w")
  FetchContent_Declare(${name} SYSTEM URL ${archive} ${ARGN})
  FetchContent_MakeAvailable(${name})
  return(PROPAGATE ${name}_SOURCE_DIR)
endfunction()

# Headers need no build: neither run nor trust the upstream build files for them.
function(troupe_add_headers target directory)
  add_library(${target} INTERFACE IMPORTED GLOBAL)
  target_include_directories(${target} INTERFACE ${directory})
  target_link_libraries(${target} INTERFACE Threads::Threads)
endfunction()

# What tools/setup has unpacked; a project that vendors troupe knows nothing of it.
if(EXISTS ${CMAKE_CURRENT_LIST_DIR}/../build/deps/usr)
  list(APPEND CMAKE_PREFIX_PATH ${CMAKE_CURRENT_LIST_DIR}/../build/deps/usr)
endif()

find_package(Threads REQUIRED)

if(NOT TARGET Asio::asio)
  find_package(Asio ${TROUPE_ASIO_MINIMUM} QUIET MODULE)
  if(NOT Asio_FOUND)
    troupe_fetch(asio "Asio ${TROUPE_ASIO_MINIMUM}"
      https://github.com/chriskohlhoff/asio/archive/refs/tags/asio-1-30-2.tar.gz
      SOURCE_SUBDIR no_build)
    set(Asio_INCLUDE_DIR ${asio_SOURCE_DIR}/asio/include CACHE PATH "Where asio.hpp is" FORCE)
    find_package(Asio ${TROUPE_ASIO_MINIMUM} REQUIRED MODULE)
  endif()
endif()

if(NOT TARGET Taskflow::Taskflow)
  find_package(Taskflow 3.9 QUIET CONFIG)
  # Its version file accepts nothing but the same minor version; a newer one will do for us.
  if(NOT Taskflow_FOUND AND Taskflow_CONSIDERED_VERSIONS)
    list(SORT Taskflow_CONSIDERED_VERSIONS COMPARE NATURAL ORDER DESCENDING)
    list(GET Taskflow_CONSIDERED_VERSIONS 0 newest)
    if(newest VERSION_GREATER 3.9)
      find_package(Taskflow ${newest} QUIET CONFIG)
    endif()
  endif()
  if(NOT Taskflow_FOUND)
    troupe_fetch(taskflow "Taskflow 3.9"
      https://github.com/taskflow/taskflow/archive/refs/tags/v3.9.0.tar.gz
      SOURCE_SUBDIR no_build)
    troupe_add_headers(Taskflow::Taskflow ${taskflow_SOURCE_DIR})
  endif()
endif()

if(NOT TARGET concurrentqueue::concurrentqueue)
  # The package calls itself 1.0.0 whatever it is, so no version is asked for.
  find_package(concurrentqueue QUIET CONFIG)
  if(NOT concurrentqueue_FOUND)
    troupe_fetch(concurrentqueue "concurrentqueue 1.0.4"
      https://github.com/cameron314/concurrentqueue/archive/refs/tags/v1.0.4.tar.gz
      SOURCE_SUBDIR no_build)
    # Installed, the headers live in moodycamel/; give the sources the same shape.
    set(headers ${FETCHCONTENT_BASE_DIR}/concurrentqueue-headers)
    file(MAKE_DIRECTORY ${headers})
    file(CREATE_LINK ${concurrentqueue_SOURCE_DIR} ${headers}/moodycamel SYMBOLIC)
    troupe_add_headers(concurrentqueue::concurrentqueue ${headers})
  endif()
endif()

if(TROUPE_TESTS)
  find_package(Catch2 3.7 QUIET CONFIG)
  if(NOT Catch2_FOUND)
    troupe_fetch(Catch2 "Catch2 3.7"
      https://github.com/catchorg/Catch2/archive/refs/tags/v3.7.1.tar.gz)
    list(APPEND CMAKE_MODULE_PATH ${Catch2_SOURCE_DIR}/extras)
  endif()
  include(Catch)  # catch_discover_tests()
endif()
