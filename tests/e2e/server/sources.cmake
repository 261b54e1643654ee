# cmake -DOUT=HEADER -DNAME=MACRO -DFILES=A|B -P: a header with the digest of those files.
string(REPLACE "|" ";" FILES "${FILES}")
set(all "")
foreach(file ${FILES})
  file(SHA256 ${file} digest)
  string(APPEND all ${digest})
endforeach()
string(SHA256 all "${all}")
file(WRITE ${OUT} "#define ${NAME} \"${all}\"\n")
