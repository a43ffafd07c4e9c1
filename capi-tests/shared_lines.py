"""Prints the rows of scripts/count-shared-lines.sh from a memory trace of valgrind (lackey) on standard input.

    shared_lines.py TITLE

A line of the trace with `SCHED[n]: acquired lock` says that thread `n` runs from there on.
"""
import re
import sys

LINE = 64
# As in the program.
BUFFERS = range(0x600000000, 0x700000000)
MARKERS = {BUFFERS.start + 4: "compress", BUFFERS.start + 8: "decompress", BUFFERS.start: None}


class Line:
    """The accesses to a cache line during a job."""

    def __init__(self):
        self.readers, self.writers, self.reads, self.writes = set(), set(), 0, 0

    def is_shared(self):
        return bool(self.writers) and len(self.readers | self.writers) > 1


def figures(lines):
    """Returns the columns of one job; None if a single thread did it."""
    shared = {number: line for number, line in lines.items() if line.is_shared()}
    others = [line for number, line in shared.items() if number * LINE not in BUFFERS]
    reads, writes = (sum(line.reads for line in others), sum(line.writes for line in others))
    return (len(shared) - len(others), len(others), reads, writes) if others else None


def main():
    jobs, lines, thread, kind = {"compress": [], "decompress": []}, {}, 1, None
    for text in sys.stdin:
        if "SCHED[" in text:
            found = re.search(r"SCHED\[(\d+)\]:\s+acquired", text)
            thread = int(found[1]) if found else thread
            continue
        if text[:1] != " ":
            continue
        access, address, size = text[1], *text[3:].split(",")
        address = int(address, 16)
        if address in MARKERS and access != "L":
            if kind:
                jobs[kind].append(figures(lines))
            kind, lines = MARKERS[address], {}
        elif kind:
            for number in range(address // LINE, (address + int(size) - 1) // LINE + 1):
                line = lines.get(number) or lines.setdefault(number, Line())
                if access != "S":
                    line.readers.add(thread)
                    line.reads += 1
                if access != "L":
                    line.writers.add(thread)
                    line.writes += 1
    for name, rows in jobs.items():
        rows = [row for row in rows if row]
        medians = [sorted(column)[len(column) // 2] for column in zip(*rows)]
        print(f"{sys.argv[1]} {name:12}{len(rows):12}" + "".join(f"{median:12}" for median in medians), flush=True)


if __name__ == "__main__":
    main()
