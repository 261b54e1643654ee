# cmake --install: programs, public headers, the libraries that run engines, and share/pb, which mirrors the source tree's
# folders that programs read (core/base/installation.h). find_package(pb) gives pb::device, pb::runtime, pb::machine,
# pb::pb (libpb.so, which compiles too) and the programs. cpack -G DEB makes the Debian package. An installation may be moved as a whole.
include(CMakePackageConfigHelpers)
set(pb_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/pb)
set(pb_libdirs ${PB_OPENMP_LIBDIR} ${PB_LLVM_LIBDIR})

# What programs that run engines link, by the headers of include/pb alone.
set(libraries pb_base pb_artefact pb_tdl pb_runtime pb_grid_machine pb_machine)
add_library(pb_device INTERFACE)
foreach(library ${libraries} pb_device)
  target_include_directories(${library} INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  string(REPLACE pb_ "" name ${library})
  set_target_properties(${library} PROPERTIES EXPORT_NAME ${name})
  add_library(pb::${name} ALIAS ${library})
endforeach()
target_include_directories(pb_device INTERFACE $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include>)
foreach(program ${PB_PROGRAMS})
  add_executable(pb::${program} ALIAS ${program})
  set_target_properties(${program} PROPERTIES INSTALL_RPATH "${pb_libdirs}")
endforeach()

target_include_directories(pb_library INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
add_library(pb::pb ALIAS pb_library)
if(NOT PB_STATIC_LLVM) # else what it needs lies beside it
  set_target_properties(pb_library PROPERTIES INSTALL_RPATH "${pb_libdirs}")
endif()

install(TARGETS ${PB_PROGRAMS} ${libraries} pb_device pb_library EXPORT pb LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT pb NAMESPACE pb:: FILE pb-targets.cmake DESTINATION ${pb_cmake_dir})
configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/pb-config.cmake.in ${CMAKE_BINARY_DIR}/pb-config.cmake
                              INSTALL_DESTINATION ${pb_cmake_dir} PATH_VARS CMAKE_INSTALL_DATADIR)
# Versions before 1 promise nothing to each other; afterwards a major version does.
write_basic_package_version_file(${CMAKE_BINARY_DIR}/pb-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/pb-config.cmake ${CMAKE_BINARY_DIR}/pb-config-version.cmake DESTINATION ${pb_cmake_dir})

install(DIRECTORY include/pb DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN *.h)
set(share ${CMAKE_INSTALL_DATADIR}/pb)
install(FILES tdl/pb.td tdl/gpu.td tdl/codes.td DESTINATION ${share}/tdl)
file(GLOB descriptions RELATIVE ${CMAKE_SOURCE_DIR} CONFIGURE_DEPENDS targets/*/*.td)
foreach(description ${descriptions})
  get_filename_component(folder ${description} DIRECTORY)
  install(FILES ${description} DESTINATION ${share}/${folder})
endforeach()
install(FILES tests/models/digits.onnx tests/models/digits_images.npy tests/models/digits_labels.npy
        DESTINATION ${share}/tests/models)
install(DIRECTORY tests/models/operators DESTINATION ${share}/tests/models)
install(DIRECTORY tools/templates tools/firmware DESTINATION ${share}/tools)
install(DIRECTORY sdk-docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN *.md)
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
foreach(model 8 16 32) # Verilated RTL, where it was built
  if(TARGET simnpu_rtl_${model})
    install(TARGETS simnpu_rtl_${model} LIBRARY DESTINATION lib/pb)
  endif()
endforeach()
if(TARGET simnpu_rtl_16)
  install(FILES ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/libsimnpu_rtl_default.so DESTINATION lib/pb)
endif()

# What the Python package has beside it (python/pyproject.toml): libpb, the programs that it starts, descriptions; and with LLVM in
# it the libraries that are left, so that nothing of the machine's is needed.
if(PB_STATIC_LLVM)
  install(TARGETS pb_library LIBRARY DESTINATION lib NAMELINK_SKIP COMPONENT python EXCLUDE_FROM_ALL)
  install(TARGETS ${PB_STARTED} RUNTIME DESTINATION bin COMPONENT python EXCLUDE_FROM_ALL)
  execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=libgomp.so.1 OUTPUT_VARIABLE gomp OUTPUT_STRIP_TRAILING_WHITESPACE)
  foreach(library ${PB_ISL_SO} ${PB_GMP_SO} ${PB_JANSSON} ${gomp})
    file(REAL_PATH ${library} real)
    execute_process(COMMAND objdump -p ${real} OUTPUT_VARIABLE headers COMMAND_ERROR_IS_FATAL ANY)
    string(REGEX MATCH "SONAME +([^ \n]+)" found "${headers}")
    install(FILES ${real} DESTINATION lib RENAME ${CMAKE_MATCH_1} COMPONENT python EXCLUDE_FROM_ALL)
  endforeach()
else()
  install(FILES $<TARGET_FILE:pb_library> DESTINATION lib RENAME libpb.so COMPONENT python EXCLUDE_FROM_ALL)
  install(PROGRAMS $<TARGET_FILE:pb-read-mlir> $<TARGET_FILE:pb-check-core> $<TARGET_FILE:pb-grid-code> DESTINATION bin COMPONENT python
          EXCLUDE_FROM_ALL)
endif()
install(FILES tdl/pb.td tdl/gpu.td tdl/codes.td DESTINATION share/pb/tdl COMPONENT python EXCLUDE_FROM_ALL)
foreach(description ${descriptions})
  get_filename_component(folder ${description} DIRECTORY)
  install(FILES ${description} DESTINATION share/pb/${folder} COMPONENT python EXCLUDE_FROM_ALL)
endforeach()

set(CPACK_PACKAGE_NAME pb-sdk)
set(CPACK_PACKAGE_CONTACT "The pb developers <pb@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Retargetable compiler SDK for AI chips: describe a chip once, get its compiler")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "llvm-22, lld-22") # llvm-tblgen reads descriptions, ld.lld links native code
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libjansson-dev, cmake") # to link pb::runtime
set(CPACK_STRIP_FILES ON)
include(CPack)
