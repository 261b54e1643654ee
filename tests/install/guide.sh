#!/usr/bin/env bash
# Runs the commands of the vendor's guide, as printed, in an empty folder against an installed SDK.
# Usage: guide.sh CMAKE BUILD WORK GUIDE
set -euo pipefail
cmake=$1 build=$2 work=$3 guide=$4
rm -rf "$work" && mkdir -p "$work/empty"
"$cmake" --install "$build" --prefix "$work/sdk" > "$work/install.log"
unset CMAKE_C_COMPILER_LAUNCHER CMAKE_CXX_COMPILER_LAUNCHER
export PB=$work/sdk PATH=$work/sdk/bin:$PATH
cd "$work/empty"
ran=0
while IFS= read -r command; do
  code=0
  bash -c "set -e; $command" > "$work/log" 2>&1 || code=$?
  want=$(sed -n 's/.*# fails: //p' <<< "$command")
  if [ -n "$want" ]; then
    [ "$code" = 1 ] && grep -qF "$want" "$work/log" && ran=$((ran + 1)) && continue
  elif [ "$code" = 0 ]; then
    ran=$((ran + 1))
    continue
  fi
  echo "of the guide: $command"
  tail -n 20 "$work/log"
  exit 1
done < <(sed -n 's/^    //p' "$guide")
[ "$ran" -ge 20 ]
echo "$ran commands"
