add_executable(pb-opt pb-opt.c)
target_link_libraries(pb-opt PRIVATE pb_driver)
