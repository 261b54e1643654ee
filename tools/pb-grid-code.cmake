# Started by what compiles for a grid: pbc.
add_executable(pb-grid-code pb-grid-code.c)
target_link_libraries(pb-grid-code PRIVATE pb_grid)
