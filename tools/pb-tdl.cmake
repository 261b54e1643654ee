add_executable(pb-tdl pb-tdl.c)
target_link_libraries(pb-tdl PRIVATE pb_tdl)
