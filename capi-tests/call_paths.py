"""Reads a profile of callgrind for scripts/count-files.sh, and prints its counts.

    call_paths.py CALL PROFILE [--list]

Profile: lines `fl=`, `fi=` and `fe=` name the source file of the lines that follow, `fn=` the function, `cfn=` a function
that it calls. A line that begins with a digit is a cost; the one after `calls=` is the cost of a call. The first number of
a cost is the line of the file; 0 means that the compiler names no line for these instructions, because it has merged those of
several places: they do not show that the code of the file runs.
"""
import sys
from collections import defaultdict

READS = ("pread", "__pread", "__libc_pread")


def read(profile):
    files, functions, callees = set(), set(), defaultdict(set)
    file = function = None
    skip = False
    for line in profile:
        key, _, value = line.rstrip("\n").partition("=")
        if key in ("fl", "fi", "fe"):
            file = value
        elif key == "fn":
            function = value
        elif key == "cfn":
            callees[function].add(value)
        elif key == "calls":
            skip = True
        elif line[:1].isdigit() or line[:1] in "+-*":
            position, *_, cost = line.split()
            if not skip and int(cost) > 0:
                functions.add(function)
                if position != "0":
                    files.add(file)
            skip = False
    return files, functions, callees


def longest_way(callees, function, above=()):
    """Returns the functions of the longest way without a repetition from a function to a system call that reads a file."""
    if function.startswith(READS):
        return [function]
    ways = [longest_way(callees, callee, (*above, function)) for callee in callees[function] if callee not in above]
    longest = max(ways, key=len, default=[])
    return longest and [function, *longest]


def main():
    call, path = sys.argv[1:3]
    with open(path) as profile:
        files, functions, callees = read(profile)
    ours = sorted(file for file in files if file and "src/" in file and "/rustc/" not in file and ".cargo" not in file)
    assert ours and call in functions, "the profile has no cost of the call"
    way = longest_way(callees, call)
    print(f"{call}: {len(ours)} files, {len(functions)} functions" + (f", {len(way) - 1} above pread" if way else ""))
    if sys.argv[3:] == ["--list"]:
        print("\n".join([*(f"  {file}" for file in ours), *(f"  -> {function}" for function in way)]))


main()
