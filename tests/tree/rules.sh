#!/usr/bin/env bash
# core/ names no target and includes nothing of theirs; its folders depend one way; no source file is past 1,000 lines; nobody's paths stand in the tree.
# Usage: rules.sh SOURCE_FOLDER
cd "$1" || exit 1
failed=0
say() { echo "$1"; failed=1; }
sources() { find "$@" \( -name '*.[ch]' -o -name '*.cpp' -o -name '*.td' -o -name '*.sv' -o -name '*.py' -o -name '*.def' -o -name '*.md' -o -name '*.cmake' \) -not -path './build*' -not -path './.venv*' -not -path './.git/*'; }

while read -r hit; do say "core names a target: $hit"; done < <(sources core | xargs grep -niwE 'simnpu|nvgpu|amdgpu|nvvm|rocdl|cuda|hip|avx|avx2|avx512|amx|x86' | cut -c1-140)
while read -r hit; do say "core includes a target's header: $hit"; done < <(sources core | xargs grep -nE '#include "targets/' | cut -c1-140)
while read -r hit; do say "a pass asks how the chip is controlled: $hit"; done < <(sources core/s3 core/select | xargs grep -nE 'PB_CONTROL_|>control\b' | cut -c1-140)
while read -r hit; do say "a pass asks for vector registers, not for what they allow: $hit"; done < <(sources core/s3 core/select | grep -v core/s3/chip_facts.c | xargs grep -nE 'facts(_of\(.*\))?(\.|->)memory\b' | cut -c1-140)
# Whether code runs is the control under another name: what a pass needs of it is a fact of its own (core/s3/chip_facts.h). Only fewer.
asked=$(grep -rn 'pb_chip_runs_code(' core/s3 --include='*.c' | grep -vc core/s3/chip_facts.c)
[ "$asked" -gt 6 ] && say "passes ask $asked times whether a chip runs code: 6 at most"
# core/s3's folders use each other in one direction.
while read -r hit; do say "a fork copies locks that other threads hold (posix_spawn): $hit"; done < <(sources core tdl targets tools | xargs grep -nE '\bv?fork\(\)' | cut -c1-140)
while read -r user used; do
  for folder in $used; do
    while read -r hit; do say "core/s3/$user is used by what it stands on: $hit"; done < <(grep -rnE "#include \"core/s3/$user/" "core/s3/$folder" | cut -c1-140)
  done
done <<'END'
lower kernel plan tree layout legalise fusion reside
reside kernel plan tree layout fusion
fusion kernel plan tree layout
plan kernel tree layout
tree kernel layout
legalise layout kernel
layout kernel
END
# One layout: it asks for facts of a description, not for a kind of chip. lanes is a pass for cached cores alone.
while read -r hit; do say "layout asks for a kind of chip: $hit"; done < <(grep -nE 'chip->control|facts(_of\([^)]*\))?\.memory' core/s3/{layout,legalise}/*.c | grep -v "^core/s3/legalise/lanes.c:" | cut -c1-140)
while read -r lines file; do
  [ "$file" != total ] && [ "$lines" -gt 1000 ] && say "past 1,000 lines: $file ($lines)"
done < <(sources . | xargs wc -l)
while read -r hit; do say "a path of one machine: $hit"; done < <(sources core tdl targets tools tests include sdk-docs cmake | xargs grep -nE '(/work/|/home/[a-z]|/tmp/[a-z])' | grep -v 'tests/tree/rules.sh' | cut -c1-140)
exit $failed
