#!/usr/bin/env bash
# Several processes on one array through python-blosc2: the workers of a Dask cluster, and processes that were started by
# fork, spawn and forkserver. They read, write and append, and some are killed at random (dask_processes.py). The same runs
# on the C library of the wheel, for the tables in docs/dask.md, and the examples of examples/dask/ run. `quick` makes fewer
# calls and kills. BLOSC2_LIBRARY names another library instead of ours.
source "$(dirname "$0")/common.sh"
dask_version=2026.8.0

py=$(environment dask "blosc2==$reference_version" cython setuptools "dask[array,distributed]==$dask_version")
lib=${BLOSC2_LIBRARY:-$(library 9)}
swap_python_blosc2 "$py" "$lib"
wheel=$(dirname "$(release "$reference_version")")
case $mode in
  quick) amount=(--kills 2 --calls 20 --starts processes/fork,Dask/spawn) ;;
  all) amount=(--kills 10 --calls 100) ;;
esac

say "examples/dask"
verdict=passed
for example in "$root"/examples/dask/*.py; do
  "$py" "$example" "$TMPDIR" >&2 || verdict=failed
done

# Runs a command in a cgroup with the quota of one core; fails where no such cgroup can be made.
with_one_core() { # command...
  local group=/sys/fs/cgroup/cpu/blosc2-$$ file=cpu.cfs_quota_us quota=100000 status=0
  [ -d /sys/fs/cgroup/cpu ] || { group=/sys/fs/cgroup/blosc2-$$ file=cpu.max quota="100000 100000"; }
  { mkdir "$group" && echo "$quota" >"$group/$file"; } 2>/dev/null || { rmdir "$group" 2>/dev/null; return 1; }
  (echo "$BASHPID" >"$group/cgroup.procs" && "$@") || status=$?
  rmdir "$group"
  return $status
}

# Prints a row for each limit with the number of threads that the library starts, beside the C library.
count_threads() {
  local core ours theirs limit
  core=$(awk '/^Cpus_allowed_list/ { split($2, cores, /[,-]/); print cores[1] }' /proc/self/status)
  for limit in env "env BLOSC_NTHREADS=1" "taskset -c $core" with_one_core; do
    ours=$($limit "$py" "$clients/worker_threads.py") && theirs=$(PYTHONPATH=$wheel $limit "$py" "$clients/worker_threads.py") ||
      { [ "$limit" = with_one_core ] || return 1; echo "SKIPPED: a cgroup cannot be made here" >&2; continue; }
    echo "threads started, $limit: $ours; C-Blosc2: $theirs" >&2
    [ "$limit" = env ] || [ -n "${BLOSC2_LIBRARY:-}" ] || [ "$ours" = 0 ] || return 1
  done
}
say "threads of a worker"
count_threads || verdict=failed

say "processes on $lib"
log=$work/dask
"$py" "$clients/dask_processes.py" "$TMPDIR/ours" "$lib" "${amount[@]}" --table "$log-ours.tsv" >"$log-ours.log" 2>&1 || verdict=failed
[ $verdict = passed ] || grep -v '0 lost, 0 wrong, 0 error, 0 stuck, 0 damaged' "$log-ours.log" >&2 || true

# The C library loses content when a process is killed: its findings do not fail the script.
if [ "$mode" = all ] && [ -z "${BLOSC2_LIBRARY:-}" ]; then
  say "processes on the C library of the wheel"
  PYTHONPATH=$wheel "$py" "$clients/dask_processes.py" "$TMPDIR/theirs" "$lib" "${amount[@]}" --limit 60 --table "$log-theirs.tsv" >"$log-theirs.log" 2>&1 || true
  "$py" "$clients/dask_processes.py" --compare "$log-ours.tsv" "$log-theirs.tsv"
fi

total() { awk -F'\t' -v field="$1" '{ sum += $field } END { print sum }' "$log-ours.tsv"; }
result "Dask $dask_version, multiprocessing" "through the extension module of python-blosc2" \
  "$(total 4) calls on files and directories by 4 processes, $(total 5) of them killed: $(total 6) lost, $(total 7) wrong, $(total 8) errors, $(total 9) stuck" $verdict
