set(@NAME@_description ${CMAKE_CURRENT_LIST_DIR}/../@NAME@.td)
# The description is right; the machine made from it does what it says, operators and the digits network too.
add_test(NAME @NAME@_check COMMAND pb::pb-tdl check ${@NAME@_description})
add_test(NAME @NAME@_conformance COMMAND pb::pb-target-test ${@NAME@_description} --coverage)
# The driver is loaded, and says what it lacks. Once it drives the chip, put in its place:
#   add_test(NAME @NAME@_driver COMMAND pb::pb-target-test ${@NAME@_description} --device=$<TARGET_FILE:@NAME@_driver>)
add_test(NAME @NAME@_driver COMMAND pb::pb-target-test ${@NAME@_description} --device=$<TARGET_FILE:@NAME@_driver> --filter=network/)
set_tests_properties(@NAME@_driver PROPERTIES PASS_REGULAR_EXPRESSION "this driver drives nothing yet")
