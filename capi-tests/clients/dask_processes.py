"""Four processes read, write and extend one array on disk through python-blosc2, and some of them are killed.

    dask_processes.py DIRECTORY LIBRARY [--kills N] [--calls N] [--starts LIST] [--limit SECONDS] [--only WORD] [--table FILE]
    dask_processes.py --compare FILE FILE

DIRECTORY gets the arrays. LIBRARY is our libblosc2.so, which verifies the files afterwards, also those of another library.
The processes are those of `multiprocessing` or the workers of a `LocalCluster` of Dask with one thread each, with each of
the start methods fork, spawn and forkserver; the arrays are files and directories. In the cases `inherited`, forked processes
use the open array of their parent. Prints one line for each case, and adds them up in FILE; `--compare` prints two of these
files as a table in Markdown. A case counts:

lost    calls that have returned, but whose content is not there
wrong   content that no call has written
error   calls that raise an exception
stuck   cases in which a process makes no call for the time of `--limit`
damaged parts of the file that `blosc2x_verify` of LIBRARY finds at the end

`--kills` is the number of processes that are killed in each case of that kind, `--calls` the number of calls of each
process in the others, `--starts` a list such as `processes/fork,Dask/spawn`, and `--only` selects the cases with that word in
their line.
"""

import argparse
import collections
import ctypes
import functools
import itertools
import multiprocessing
import os
import random
import shutil
import signal
import sys
import time
from pathlib import Path

import blosc2
import numpy as np

NWORKERS = 4
STARTS = [f"{how}/{method}" for how in ["processes", "Dask"] for method in ["fork", "spawn", "forkserver"]]
KINDS = ["lost", "wrong", "error", "stuck", "damaged"]
# Of the arrays that are written and read.
NCHUNKS = 16
CHUNK_NITEMS = 20_000
# Of the array that is extended.
RECORD_NITEMS = 500
# In seconds.
MAX_KILL_DELAY = 0.05


class Place:
    """The array of one case, and the files beside it through which its processes report."""

    def __init__(self, directory: Path):
        self.array = str(directory / "array.b2nd")
        self.findings = directory / "findings"
        self.stop = directory / "stop"
        self.progress = [directory / f"progress-{worker}" for worker in range(NWORKERS)]
        # The open array that forked processes inherit.
        self.inherited = None

    def note(self, kind: str, text: str) -> None:
        with open(self.findings, "a") as file:
            file.write(f"{kind}: {text[:300]!r}\n")

    def open(self):
        return blosc2.open(self.array, mode="a", locking=True) if self.inherited is None else self.inherited

    def state(self, worker: int) -> tuple[int, int]:
        """Returns the number of calls of a worker that have returned, and the id of its process."""
        try:
            data = self.progress[worker].read_bytes()
        except FileNotFoundError:
            data = b""
        return int.from_bytes(data[:8], "little"), int.from_bytes(data[8:], "little")


class Progress:
    """The number of calls of a worker that have returned, in a file that outlives the process."""

    def __init__(self, place: Place, worker: int):
        self.file = os.open(place.progress[worker], os.O_RDWR | os.O_CREAT)
        self.first = place.state(worker)[0]
        self.set(self.first)

    def set(self, ncalls: int) -> None:
        os.pwrite(self.file, ncalls.to_bytes(8, "little") + os.getpid().to_bytes(8, "little"), 0)


def task(function):
    """Makes a task of a function that yields after each of its calls of the library: `ncalls` calls in all, or calls until
    the file `stop` exists. Returns whether no call has failed."""

    @functools.wraps(function)
    def run(place: Place, worker: int, ncalls: int | None) -> bool:
        try:
            progress = Progress(place, worker)
            for returned in function(place, worker, progress.first):
                progress.set(returned)
                if (ncalls and returned >= ncalls) or place.stop.exists():
                    return True
        except Exception as error:  # The case goes on without this worker.
            place.note("error", f"worker {worker}: {type(error).__name__}: {error}")
        return False

    return run


def chunk_content(nchunk: int, generation: int) -> np.ndarray:
    return np.arange(CHUNK_NITEMS) * (nchunk % 7 + 1) + generation * 1_000_003 + nchunk


def chunk_slice(nchunk: int) -> slice:
    return slice(nchunk * CHUNK_NITEMS, (nchunk + 1) * CHUNK_NITEMS)


def read_generation(array, nchunk: int) -> int | None:
    """Returns the number of the write whose content a chunk has; None if it has the content of no single write."""
    items = array[chunk_slice(nchunk)]
    generation = int(items[0] - nchunk) // 1_000_003
    return generation if np.array_equal(items, chunk_content(nchunk, generation)) else None


def create_chunks(place: Place, contiguous: bool) -> None:
    items = np.concatenate([chunk_content(nchunk, 0) for nchunk in range(NCHUNKS)])
    storage = {"urlpath": place.array, "contiguous": contiguous, "mode": "w", "locking": True}
    blosc2.asarray(items, chunks=(CHUNK_NITEMS,), blocks=(CHUNK_NITEMS // 8,), **storage)


def check_chunk(place: Place, array, nchunk: int, expected: set[int], when: str) -> None:
    found = read_generation(array, nchunk)
    if found is None:
        place.note("wrong", f"chunk {nchunk} {when}")
    elif found not in expected:
        place.note("lost", f"chunk {nchunk} {when}: write {found}, expected one of {expected}")


@task
def read(place: Place, worker: int, first: int):
    draw = random.Random(worker)
    array = blosc2.open(place.array) if place.inherited is None else place.inherited
    content = np.concatenate([chunk_content(nchunk, 0) for nchunk in range(NCHUNKS)])
    for returned in itertools.count(first + 1):
        start, stop = sorted(draw.sample(range(len(content) + 1), 2))
        if not np.array_equal(array[start:stop], content[start:stop]):
            place.note("wrong", f"items {start} to {stop}")
        yield returned


@task
def write(place: Place, worker: int, first: int):
    """Overwrites the chunks of this worker in turn. Each of them has the content of the last write before."""
    array = place.open()
    mine = range(worker, NCHUNKS, NWORKERS)
    draw = random.Random(worker)
    for call in itertools.count(first):
        nchunk, generation = mine[call % len(mine)], call // len(mine) + 1
        # A process that was killed may have made the write that was in progress.
        expected = {generation - 1, generation} if call == first else {generation - 1}
        check_chunk(place, array, nchunk, expected, f"before write {generation}")
        array[chunk_slice(nchunk)] = chunk_content(nchunk, generation)
        yield call + 1
        other = draw.randrange(NCHUNKS)
        if read_generation(array, other) is None:
            place.note("wrong", f"chunk {other} of another worker")


def check_written(place: Place) -> None:
    array = place.open()
    for nchunk in range(NCHUNKS):
        ncalls, index = place.state(nchunk % NWORKERS)[0], nchunk // NWORKERS
        per_round = NCHUNKS // NWORKERS
        # The write in progress may have been made before the process was killed.
        least, most = ((calls - index + per_round - 1) // per_round for calls in (ncalls, ncalls + 1))
        check_chunk(place, array, nchunk, {least, most}, "at the end")


def record(worker: int, number: int) -> np.ndarray:
    return np.arange(RECORD_NITEMS) + (worker << 48) + (number << 16)


def create_records(place: Place, contiguous: bool) -> None:
    storage = {"urlpath": place.array, "contiguous": contiguous, "mode": "w", "locking": True}
    nitems = RECORD_NITEMS * 8
    blosc2.zeros((0,), dtype=np.int64, chunks=(nitems,), blocks=(nitems // 4,), **storage)


def read_records(place: Place, items: np.ndarray) -> list[list[int]]:
    """Returns the numbers of the records of each worker, in the order of the array."""
    numbers = [[] for _ in range(NWORKERS)]
    for start in range(0, len(items), RECORD_NITEMS):
        found = items[start : start + RECORD_NITEMS]
        worker, number = int(found[0]) >> 48, int(found[0]) >> 16 & 0xFFFFFFFF
        if worker < NWORKERS and np.array_equal(found, record(worker, number)):
            numbers[worker].append(number)
        else:
            place.note("wrong", f"the record of items {start} to {start + len(found)}")
    return numbers


def check_records(place: Place, numbers: list[int], worker: int, ncalls: int) -> None:
    if numbers not in (list(range(ncalls)), list(range(ncalls + 1))):
        lost = sorted(set(range(ncalls)) - set(numbers))
        twice = [number for number, count in collections.Counter(numbers).items() if count > 1]
        kind = "lost" if lost else "wrong"
        place.note(kind, f"worker {worker}, {ncalls} records: lost {lost[:9]}, twice {twice[:9]}, of {len(numbers)}")


@task
def append(place: Place, worker: int, first: int):
    array = place.open()
    numbers = read_records(place, array[:])[worker]
    check_records(place, numbers, worker, first)
    if numbers and numbers[-1] == first:
        yield first + 1
        first += 1
    for call in itertools.count(first):
        # A change of the shape and a write: one change with the lock held.
        with array.holding_lock():
            array.append(record(worker, call))
        yield call + 1


def check_appended(place: Place) -> None:
    for worker, numbers in enumerate(read_records(place, place.open()[:])):
        check_records(place, numbers, worker, place.state(worker)[0])


class Processes:
    """Starts tasks in processes of `multiprocessing`."""

    def __init__(self, method: str):
        self.context = multiprocessing.get_context(method)
        # The server then imports the modules once.
        self.context.set_forkserver_preload(["blosc2", "numpy", "dask_processes"])

    def start(self, function, place: Place, ncalls: int | None) -> None:
        self.arguments = [(place, worker, ncalls) for worker in range(NWORKERS)]
        self.function = function
        self.running = {worker: self.start_process(worker) for worker in range(NWORKERS)}

    def start_process(self, worker: int):
        process = self.context.Process(target=self.function, args=self.arguments[worker])
        process.start()
        return process

    def poll(self) -> bool:
        """Starts killed processes again. Returns whether some are running."""
        for worker, process in list(self.running.items()):
            if process.exitcode is not None:
                del self.running[worker]
                if process.exitcode == -signal.SIGKILL:
                    self.running[worker] = self.start_process(worker)
                elif process.exitcode != 0:
                    self.arguments[worker][0].note("error", f"exit code {process.exitcode}")
        return bool(self.running)

    def is_running(self, worker: int) -> bool:
        return worker in self.running

    def abandon(self) -> None:
        for process in self.running.values():
            process.kill()
            process.join()

    def close(self) -> None:
        pass


class Workers:
    """Starts tasks on the workers of a cluster of Dask, which starts killed workers again."""

    # A task without an end is a row of tasks of this number of calls, which move to other workers.
    NCALLS = 25

    def __init__(self, method: str):
        import dask
        from distributed import Client, LocalCluster

        dask.config.set({
            "distributed.worker.multiprocessing-method": method,
            "distributed.scheduler.allowed-failures": 10_000,
            # A worker may start slowly on a machine with other work.
            "distributed.deploy.lost-worker-timeout": "10 minutes",
        })
        self.cluster = LocalCluster(
            n_workers=NWORKERS, threads_per_worker=1, dashboard_address=None, silence_logs="CRITICAL"
        )
        self.client = Client(self.cluster)

    def start(self, function, place: Place, ncalls: int | None) -> None:
        self.function, self.place, self.ncalls = function, place, ncalls
        self.futures = {self.submit(worker): worker for worker in range(NWORKERS)}

    def submit(self, worker: int):
        ncalls = self.ncalls or self.place.state(worker)[0] + self.NCALLS
        return self.client.submit(self.function, self.place, worker, ncalls, pure=False)

    def poll(self) -> bool:
        for future, worker in list(self.futures.items()):
            if future.done():
                del self.futures[future]
                if future.status != "finished":
                    self.place.note("error", f"{future.status}: {future.exception()}")
                elif future.result() and self.ncalls is None and not self.place.stop.exists():
                    self.futures[self.submit(worker)] = worker
        return bool(self.futures)

    def is_running(self, worker: int) -> bool:
        return worker in self.futures.values()

    def abandon(self) -> None:
        self.client.restart(wait_for_workers=False)

    def close(self) -> None:
        self.client.close()
        self.cluster.close()


def run_tasks(starter, function, place: Place, ncalls: int | None, kills: int, limit: float) -> int:
    """Runs a task of each worker, and kills `kills` processes, each at a random time after a call of its task. Returns the
    number of kills."""
    draw = random.Random(1)
    starter.start(function, place, ncalls)
    killed, victim = 0, None
    states, changed = [place.state(worker) for worker in range(NWORKERS)], [time.monotonic()] * NWORKERS
    while starter.poll():
        now = time.monotonic()
        for worker, state in enumerate(states):
            if place.state(worker) != state:
                states[worker], changed[worker] = place.state(worker), now
        if killed < kills:
            if victim is None or not starter.is_running(victim):
                victim = draw.randrange(NWORKERS)
                before = states[victim]
            # The process has made a call since it was chosen.
            elif states[victim][1] == before[1] != 0 and states[victim][0] > before[0]:
                time.sleep(draw.uniform(0, MAX_KILL_DELAY))
                os.kill(states[victim][1], signal.SIGKILL)
                killed, victim, changed = killed + 1, None, [time.monotonic()] * NWORKERS
            elif states[victim][1] != before[1]:
                before = states[victim]
        elif ncalls is None:
            place.stop.touch()
        waiting = now - (min(changed) if victim is None else changed[victim])
        if waiting > limit and (victim is not None or now - max(changed) > limit):
            place.note("stuck", f"after {[state[0] for state in states]} calls, {killed} kills")
            starter.abandon()
            break
        time.sleep(0.001)
    return killed


def damaged_parts(library: str, path: str) -> int:
    verify = ctypes.CDLL(library).blosc2x_verify
    verify.restype = ctypes.c_int64
    damaged = verify(path.encode(), None, None, None)
    return damaged if damaged >= 0 else 1


ACTIONS = {
    "read": (read, create_chunks, check_written),
    "write": (write, create_chunks, check_written),
    "append": (append, create_records, check_appended),
}
COLUMNS = ["calls", "killed", *KINDS]


def run_case(starter, place: Place, action: str, variant: str, contiguous: bool, options) -> collections.Counter:
    """Returns the numbers of `COLUMNS`."""
    function, create, check = ACTIONS[action]
    create(place, contiguous)
    if variant == "inherited":
        place.inherited = blosc2.open(place.array, mode="a", locking=True)
        place.inherited[:]  # Starts the threads of the library in this process.
    is_killed = variant == "killed"
    ncalls, kills = (None, options.kills) if is_killed else (options.calls, 0)
    killed = run_tasks(starter, function, place, ncalls, kills, options.limit)
    place.inherited = None
    try:
        if action != "read":
            check(place)
    except Exception as error:
        place.note("error", f"at the end: {type(error).__name__}: {error}")
    findings = place.findings.read_text().splitlines() if place.findings.exists() else []
    for line in findings[:5]:
        print(f"  {line}", file=sys.stderr)
    counts = collections.Counter(line.split(":")[0] for line in findings)
    counts.update(
        calls=sum(place.state(worker)[0] for worker in range(NWORKERS)),
        killed=killed,
        damaged=damaged_parts(options.library, place.array),
    )
    return counts


def run_cases(options) -> dict:
    """Returns the numbers of `COLUMNS` of all start methods together."""
    totals = collections.defaultdict(collections.Counter)
    variants = ["", "killed", "inherited"]
    for start in options.starts.split(","):
        how, method = start.split("/")
        starter = None
        for action, variant, contiguous in itertools.product(ACTIONS, variants, [True, False]):
            name = f"{action}, {variant}" if variant else action
            store = "file" if contiguous else "directory"
            line = f"{name}, {store}, {how}, {method}"
            is_possible = start == "processes/fork" if variant == "inherited" else name != "read, killed"
            if not is_possible or options.only not in line:
                continue
            starter = starter or (Processes if how == "processes" else Workers)(method)
            directory = options.directory / line.replace(", ", "-")
            directory.mkdir(parents=True)
            counts = run_case(starter, Place(directory), action, variant, contiguous, options)
            shutil.rmtree(directory)
            print(f"{line}: " + ", ".join(f"{counts[column]} {column}" for column in COLUMNS), flush=True)
            totals[how, name, store].update(counts)
        if starter is not None:
            starter.close()
    return totals


def compare(ours: Path, theirs: Path) -> None:
    """Prints the tables of two runs beside each other."""
    tables = []
    for path in (ours, theirs):
        rows = (line.split("\t") for line in path.read_text().splitlines())
        tables.append({tuple(row[:3]): row[3:] for row in rows})
    first, second = tables
    print("| processes | case | store | this library: calls, kills | findings | C-Blosc2: calls, kills | findings |")
    print("|---|---|---|--:|---|--:|---|")
    for key, numbers in first.items():
        cells = []
        for row in (numbers, second.get(key)):
            calls, killed, *counts = row or [""] * len(COLUMNS)
            found = ", ".join(f"{count} {kind}" for count, kind in zip(counts, KINDS) if count != "0")
            cells += [f"{calls}, {killed}", found or "none"] if row else ["not run", ""]
        print("| " + " | ".join([*key, *cells]) + " |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    parser.add_argument("library")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--calls", type=int, default=100)
    parser.add_argument("--starts", default=",".join(STARTS))
    parser.add_argument("--limit", type=float, default=180)
    parser.add_argument("--only", default="")
    parser.add_argument("--table", type=Path)
    parser.add_argument("--compare", action="store_true")
    options = parser.parse_args()
    if options.compare:
        return compare(options.directory, Path(options.library))
    totals = run_cases(options)
    if options.table:
        rows = [[*key, *(str(total[column]) for column in COLUMNS)] for key, total in totals.items()]
        options.table.write_text("".join("\t".join(row) + "\n" for row in rows))
    if any(total[kind] for total in totals.values() for kind in KINDS):
        sys.exit(1)


if __name__ == "__main__":
    # By its name, so that other processes find the functions.
    from dask_processes import main

    main()
