# CMake toolchain file: builds MPI programs of C and C++ for Mayfly.
#
#   cmake -S . -B build -DCMAKE_TOOLCHAIN_FILE="$(mayfly cmake-toolchain)"
#   cmake --build build && mayfly mpiexec -n 4 build/program
#
# The drivers lie beside the folder of this file. find_package(MPI) succeeds: they are MPI compilers. Programs that CMake runs while it configures
# (try_run) and single-process tests run as one rank; add_test with ${MPIEXEC_EXECUTABLE} runs as many as it asks for.

get_filename_component(_mayfly "${CMAKE_CURRENT_LIST_DIR}/.." ABSOLUTE)

set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR wasm32)
# What projects ask to mean "has POSIX calls"; which of them link is decided by the linker.
set(UNIX 1)

set(CMAKE_C_COMPILER "${_mayfly}/mayfly-mpicc.js")
set(CMAKE_CXX_COMPILER "${_mayfly}/mayfly-mpicxx.js")
set(CMAKE_AR "${_mayfly}/mayfly-ar.js" CACHE FILEPATH "")
set(CMAKE_RANLIB "${_mayfly}/mayfly-ranlib.js" CACHE FILEPATH "")
set(CMAKE_NM "${_mayfly}/mayfly-nm.js" CACHE FILEPATH "")
foreach(_language C CXX)
  set(CMAKE_${_language}_COMPILER_AR "${CMAKE_AR}" CACHE FILEPATH "")
  set(CMAKE_${_language}_COMPILER_RANLIB "${CMAKE_RANLIB}" CACHE FILEPATH "")
  # The drivers know their target.
  set(CMAKE_${_language}_COMPILER_TARGET wasm32-wasip1)
endforeach()

# One statically linked module.
set_property(GLOBAL PROPERTY TARGET_SUPPORTS_SHARED_LIBS FALSE)
set(BUILD_SHARED_LIBS OFF CACHE BOOL "")

# Headers and libraries of this machine are of no use; its programs (python, git …) are. Those that the user has built are below a prefix that
# -DCMAKE_PREFIX_PATH, -DZLIB_ROOT or a variable of the environment names.
list(APPEND CMAKE_FIND_ROOT_PATH "${CMAKE_CURRENT_LIST_DIR}/root" ${CMAKE_PREFIX_PATH})
string(REPLACE ":" ";" _mayfly_prefixes "$ENV{CMAKE_PREFIX_PATH}")
list(APPEND CMAKE_FIND_ROOT_PATH ${_mayfly_prefixes})
get_cmake_property(_mayfly_names VARIABLES)
foreach(_mayfly_name IN LISTS _mayfly_names)
  if(_mayfly_name MATCHES "_ROOT$" AND NOT _mayfly_name STREQUAL "CMAKE_ROOT")
    list(APPEND CMAKE_FIND_ROOT_PATH ${${_mayfly_name}})
  endif()
endforeach()
execute_process(COMMAND "${CMAKE_COMMAND}" -E environment OUTPUT_VARIABLE _mayfly_environment ERROR_QUIET)
string(REGEX MATCHALL "[A-Za-z0-9_]+_ROOT=/[^\n;]*" _mayfly_environment "\n${_mayfly_environment}")
foreach(_mayfly_name IN LISTS _mayfly_environment)
  string(REGEX REPLACE "^[^=]*=" "" _mayfly_name "${_mayfly_name}")
  list(APPEND CMAKE_FIND_ROOT_PATH "${_mayfly_name}")
endforeach()
list(REMOVE_DUPLICATES CMAKE_FIND_ROOT_PATH)
# What the system's own compiler uses.
list(REMOVE_ITEM CMAKE_FIND_ROOT_PATH "" "/" "/usr" "/usr/" "/usr/local" "/usr/local/")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

set(MPI_C_COMPILER "${CMAKE_C_COMPILER}" CACHE FILEPATH "")
set(MPI_CXX_COMPILER "${CMAKE_CXX_COMPILER}" CACHE FILEPATH "")
set(MPI_CXX_SKIP_MPICXX TRUE CACHE BOOL "")
set(MPIEXEC_EXECUTABLE "${_mayfly}/mayfly-mpiexec.js" CACHE FILEPATH "")
set(MPIEXEC_NUMPROC_FLAG "-n" CACHE STRING "")
set(CMAKE_CROSSCOMPILING_EMULATOR "${_mayfly}/mayfly-mpiexec.js;-n;1;--quiet" CACHE STRING "")
