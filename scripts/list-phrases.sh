#!/bin/sh
# Lists the phrases that the style of the project excludes from comments and documents, because they hide the subject of a
# sentence or give code a will:
#
#     scripts/list-phrases.sh            # every place, then the count
#     scripts/list-phrases.sh --count    # the count only
#
# Looks at the comments of Rust and C sources and scripts, and at documents. A place where a person is meant is listed too.
set -eu
case ${1:-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac
cd "$(dirname "$0")/.."

phrases='\bwho\b|\bnobody\b|\bsomebody\b|\bas it is,|\bso many\b|\bof its own accord\b|\basks\b|\bwants\b'

list() {
    # Comments: the part of a line from its comment mark on.
    git ls-files '*.rs' '*.c' '*.cpp' '*.h' '*.sh' '*.py' '*.js' '*.pl' '*.java' '*.toml' '.ci/run' |
        grep -v '^scripts/list-phrases.sh$' |
        xargs grep -noE '(//|/\*|^[[:space:]]*\*|(^|[[:space:]])#([[:space:]]|$)).*' | grep -iE ":.*($phrases)" || true
    git ls-files '*.md' | xargs grep -niE "$phrases" || true
}

[ "${1:-}" = --count ] || list
printf '%s places\n' "$(list | wc -l)"
