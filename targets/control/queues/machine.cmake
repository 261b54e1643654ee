add_library(pb_machine STATIC machine.c machine_memory.c machine_command.c machine_check.c machine_banks.c machine_eval.c machine_gather.c machine_halves.c
                              machine_contract.c machine_cost.c machine_loop.c machine_list.c machine_run.c machine_stop.c machine_tokens.c machine_wide.c
                              machine_device.c)
target_link_libraries(pb_machine PUBLIC pb_runtime pb_tdl pb_base m)
set_source_files_properties(machine_eval.c machine_wide.c machine_contract.c PROPERTIES COMPILE_OPTIONS -O3)
