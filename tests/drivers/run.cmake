# Compiles a convolution for TARGET and runs it on the device KIND: it ends with CODE, and says TEXT, or has the right bits.
file(MAKE_DIRECTORY ${FOLDER})
execute_process(COMMAND ${BIN}/pbc ${MODELS}/conv_3x3.onnx --target=${TARGET} -o ${FOLDER}/model.pbe COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${BIN}/pb-run ${FOLDER}/model.pbe --device=${KIND} --input ${MODELS}/conv_3x3_in.npy --expect ${MODELS}/conv_3x3_out.npy
  RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE out)
if(NOT code EQUAL CODE OR (TEXT AND NOT out MATCHES "${TEXT}"))
  message(FATAL_ERROR "exit code ${code}, wanted ${CODE} and '${TEXT}'\n${out}")
endif()
