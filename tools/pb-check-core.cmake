# Started by what checks a description: pb-tdl, pbc.
add_executable(pb-check-core pb-check-core.c)
target_link_libraries(pb-check-core PRIVATE pb_driver)
