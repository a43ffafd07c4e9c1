#!/usr/bin/env python3
"""Copies the output of `cargo test` from standard input, and appends the slowest test binaries and tests.

    cargo test 2>&1 | .ci/slowest-tests.py THREADS

THREADS is the number of tests that a binary runs at a time. A binary starts its tests in alphabetical order, the next one
when another one ends: the start of a test follows from the lines about the ends of the tests.
"""
import re
import sys
import time

SHOWN = 20


def durations(ends, start, threads):
    """Yields the name and duration of each test, from (name, time) in the order in which the tests ended."""
    running, ended = {}, []
    waiting = sorted(name for name, _ in ends)
    for _ in range(min(threads, len(waiting))):
        running[waiting.pop(0)] = start
    for name, end in ends:
        # A test that is not the next one has run on a thread of its own since the last end.
        yield name, end - running.pop(name, ended[-1] if ended else start)
        ended.append(end)
        if waiting:
            running[waiting.pop(0)] = end


def main():
    if len(sys.argv) != 2 or not sys.argv[1].isdigit():
        print(__doc__, end="")
        return 0 if sys.argv[1:] in (["-h"], ["--help"]) else 2
    threads = int(sys.argv[1])
    tests, binaries, ends, start, binary = [], [], [], None, ""
    for line in sys.stdin:
        sys.stdout.write(line)
        sys.stdout.flush()
        now = time.monotonic()
        if found := re.match(r" +(?:Running|Doc-tests) (.*?)(?: \(.*)?$", line):
            binary = found[1]
        elif re.match(r"running \d+ tests?$", line):
            start, ends = now, []
        elif found := re.match(r"test (.*?)(?: - should panic)? \.\.\. (?:ok|FAILED)$", line):
            ends.append((found[1], now))
        elif line.startswith("test result:") and start is not None:
            binaries.append((now - start, binary))
            tests += [(took, f"{binary}: {name}") for name, took in durations(ends, start, threads)]
            start = None
    for title, rows in ("binaries", binaries), ("tests", tests):
        print(f"\nthe slowest {title}, in seconds; sum of {len(rows)}: {sum(took for took, _ in rows):.0f}")
        for took, name in sorted(rows, reverse=True)[:SHOWN]:
            print(f"{took:8.1f} {name}")
    return 0


sys.exit(main())
