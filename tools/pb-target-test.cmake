add_executable(pb-target-test pb-target-test.c run_compare.c conformance/judge.c conformance/judge_read.c conformance/plan.c
                              conformance/command.c conformance/banks.c conformance/broadcast.c conformance/crash.c conformance/order.c conformance/program.c conformance/cases.c
                              conformance/timeline.c conformance/devices.c conformance/networks.c conformance/report.c conformance/vectors.c)
target_link_libraries(pb-target-test PRIVATE pb_driver pb_machine pb_runtime pb_roll pb_tdl ${CMAKE_DL_LIBS})
set_target_properties(pb-target-test PROPERTIES ENABLE_EXPORTS ON)
