set(@NAME@_description ${CMAKE_CURRENT_LIST_DIR}/../@NAME@.td)
add_test(NAME @NAME@_check COMMAND pb::pb-tdl check ${@NAME@_description})
# Operators and the digits network, compiled and run on the machine of a grid.
add_test(NAME @NAME@_networks COMMAND pb::pb-target-test ${@NAME@_description})
