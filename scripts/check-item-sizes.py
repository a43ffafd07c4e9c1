#!/usr/bin/env python3
"""Prints how the item size that `blosc2 compress` finds on samples changes the size of files, on content drawn at random.

    scripts/check-item-sizes.py [--seed N] [--files N] [--command PATH]

Needs NumPy, and the command: `cargo build --release -p blosc2-cli`. For each kind of content, the table has the compressed
size with the size that was found, relative to that with the true item size and with `-t 1` (mean and worst), and the sizes
that were found.
"""

import argparse
import os
import subprocess
import tempfile


def draw(rng):
    """Returns the name of a kind of content, its item size in bytes, and a content."""
    import numpy as np

    n = int(rng.integers(100_000, 600_000))
    walk = np.cumsum(rng.normal(size=n))
    record = np.zeros(n, dtype=[("a", "<i4"), ("b", "<f8")])
    record["a"], record["b"] = np.arange(n), walk
    level = ["INFO", "WARN", "ERROR"]

    def line():
        return f"{level[rng.integers(3)]} request {rng.integers(10**6)} took {rng.integers(1, 5000)} ms\n"

    kinds = [
        ("float32", 4, lambda: walk.astype("f4")),
        ("float64, rounded", 8, lambda: (walk * rng.choice([1, 100])).round(3)),
        ("int16", 2, lambda: (walk * 50).astype("i2")),
        ("int32", 4, lambda: (walk * 1000).astype("i4")),
        ("times, int64", 8, lambda: np.cumsum(rng.integers(0, 1000, n)).astype("i8")),
        ("records of 12 bytes", 12, lambda: record),
        ("log", 1, lambda: np.frombuffer("".join(line() for _ in range(n // 30)).encode(), "u1")),
        ("image", 1, lambda: (np.abs(walk) * 3 % 256).astype("u1")),
        ("noise", 1, lambda: np.frombuffer(rng.bytes(n), "u1")),
    ]
    name, size, content = kinds[rng.integers(len(kinds))]
    return name, size, content().tobytes()


def compressed(command, arguments):
    """Returns the compressed size of the file `content` in bytes, and the output of the command."""
    run = [command, "compress", "--force", "content", "--output", "compressed", *arguments]
    done = subprocess.run(run, capture_output=True, text=True, check=True)
    return os.path.getsize("compressed"), done.stdout + done.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--files", type=int, default=100)
    parser.add_argument("--command", default="target/release/blosc2")
    arguments = parser.parse_args()
    # Not at the top: --help works without NumPy.
    import numpy as np

    command, rng, table = os.path.abspath(arguments.command), np.random.default_rng(arguments.seed), {}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for _ in range(arguments.files):
            name, size, content = draw(rng)
            with open("content", "wb") as file:
                file.write(content)
            found, text = compressed(command, [])
            ratios = [found / compressed(command, ["-t", str(t)])[0] for t in (size, 1)]
            table.setdefault(name, []).append((*ratios, text.split("items of ")[1].split(" byte")[0]))
        os.chdir("/")
    print("| content | files | beside the true size | beside `-t 1` | sizes found |\n|---|--:|--:|--:|---|")
    for name, rows in sorted(table.items()):
        true, one, sizes = zip(*rows)
        cells = [f"{np.mean(ratios):.3f} ({max(ratios):.3f})" for ratios in (true, one)]
        print(f"| {name} | {len(rows)} | {' | '.join(cells)} | {', '.join(sorted(set(sizes)))} |")


if __name__ == "__main__":
    main()
