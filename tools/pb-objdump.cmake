add_executable(pb-objdump pb-objdump.c)
target_link_libraries(pb-objdump PRIVATE pb_artefact pb_tdl)
