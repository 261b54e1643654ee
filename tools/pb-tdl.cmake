add_executable(pb-tdl pb-tdl.c tdl_sweep.c tdl_for.c tdl_diff.c)
target_link_libraries(pb-tdl PRIVATE pb_driver pb_machine pb_runtime pb_tdl)
add_dependencies(pb-tdl pb-check-core)
set_target_properties(pb-tdl PROPERTIES ENABLE_EXPORTS ON)
