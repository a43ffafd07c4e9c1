#!/usr/bin/env bash
# hdf5plugin: its HDF5 filter holds a C-Blosc2 3.3 as a static library, but calls it through the symbols that it exports:
# with our library in LD_PRELOAD every function of the ABI is ours. The package's own tests run so, and datasets that the
# package wrote alone are read so, and the reverse.
source "$(dirname "$0")/common.sh"
version=7.1.0

py=$(environment hdf5plugin "hdf5plugin==$version" h5py)
site=$(site_packages "$py")
lib=$(library 9)
filter=$site/hdf5plugin/plugins/libh5blosc2.so
ours() { env LD_PRELOAD="$lib" "$@"; }

# Every function that both have has to be bound to ours.
functions() { nm -D --defined-only "$1" | awk '$2 == "T" { print $3 }' | sort; }
comm -12 <(functions "$lib") <(functions "$filter") >"$work/hdf5plugin.functions"
[ "$(wc -l <"$work/hdf5plugin.functions")" -gt 150 ] || { echo "the filter exports no C-Blosc2" >&2; exit 1; }
LD_BIND_NOW=1 LD_DEBUG=bindings ours "$py" -c "import hdf5plugin, h5py; h5py.h5z.get_filter_info(hdf5plugin.Blosc2.filter_id)" 2>&1 |
  sed -n "s|.*binding file $filter .* to \([^ ]*\) .*normal symbol .\([a-z0-9_]*\).*|\2 \1|p" | sort -u >"$work/hdf5plugin.bindings"
join "$work/hdf5plugin.functions" "$work/hdf5plugin.bindings" >"$work/hdf5plugin.bound"
grep -q "^blosc2_compress_ctx $lib$" "$work/hdf5plugin.bound" || { echo "the filter does not call our library" >&2; exit 1; }
if grep -v " $lib$" "$work/hdf5plugin.bound" >&2; then echo "these are the filter's own" >&2; exit 1; fi

say "hdf5plugin $version"
log=$work/hdf5plugin.log
verdict=failed
if ours "$py" -m hdf5plugin.test >"$log" 2>&1 && grep -q '^OK (skipped=5)' "$log"; then verdict=passed; fi
[ $verdict = passed ] || tail -20 "$log" >&2

run="$clients/hdf5_datasets.py"
"$py" "$run" write "$TMPDIR/theirs.h5" >&2
ours "$py" "$run" write "$TMPDIR/ours.h5" >&2
read_by_ours=$(ours "$py" "$run" read "$TMPDIR/theirs.h5") || verdict=failed
read_by_theirs=$("$py" "$run" read "$TMPDIR/ours.h5") || verdict=failed
[ "$read_by_ours" = "$read_by_theirs" ] || verdict=failed
result "hdf5plugin $version" "\`LD_PRELOAD\`: its filter calls the library through symbols that can be replaced" \
  "$(sed -n 's/^Ran \([0-9]* tests\).*/\1/p' "$log") run, 5 skipped (as alone); $read_by_ours datasets of each read by the other" $verdict
