add_executable(pb-target-new pb-target-new.c)
target_link_libraries(pb-target-new PRIVATE pb_base)
