"""Compares the interface of our headers and library with that of the reference. Fails for each difference that is not
in the list of accepted differences, and for each entry of that list that matches no difference.

    compare.py NAME [--api blosc2|blosc1] --theirs DIR [--their-library FILE] --ours DIR... [--our-library FILE]
               --accepted FILE [--later DIR...] [--stand-ins DIR]

NAME is the name of the comparison in the list. With --later, the headers of a later release, an addition in our headers
is a difference only if that release does not have it too. --stand-ins writes `theirs.so` and `ours.so` to DIR; they
contain the types of the two sets of headers, for abidiff."""

import argparse
import re
import sys

from facts import HEADERS, facts, library_facts, stand_in

# The smallest number of facts of each kind. If the extraction failed on both sides, there would be no differences.
LEAST = {
    "blosc2": {"function": 150, "field": 150, "enumerator": 160, "macro": 40, "typedef": 30},
    "blosc1": {"function": 25, "macro": 57},
}


def differences(theirs, ours, later=None):
    """Returns one line for each difference; equal differences give equal lines."""
    lines = []
    for key in sorted(theirs.keys() | ours.keys()):
        if key not in ours:
            lines.append(f"missing: {key} = {theirs[key]}")
        elif key not in theirs:
            if later is None or later.get(key) != ours[key]:
                lines.append(f"more: {key} = {ours[key]}")
        elif theirs[key] != ours[key]:
            lines.append(f"other: {key} = {theirs[key]}; here {ours[key]}")
    return lines


def accepted(path):
    """Returns the entries of the list: the name of a comparison, and a pattern in which `*` matches any text."""
    entries, reason = [], False
    with open(path) as file:
        for number, line in enumerate(file, 1):
            line = line.strip()
            if not line:
                reason = False
            elif line.startswith("#"):
                reason = reason or len(line) > 10
            else:
                names, pattern = line.split(" ", 1)
                if not reason:
                    raise SystemExit(f"{path}:{number}: expected a comment with the reason above the entry")
                entries += [(name, pattern) for name in names.split(",")]
    return entries


def judge(name, found, entries):
    """Returns the differences that no entry of that name matches, and the entries that match no difference."""
    patterns = {pattern: re.compile(".*".join(map(re.escape, pattern.split("*")))) for at, pattern in entries if at == name}
    met, left = set(), []
    for line in found:
        meets = {pattern for pattern, expression in patterns.items() if expression.fullmatch(line)}
        met |= meets
        if not meets:
            left.append(line)
    return left, [pattern for pattern in patterns if pattern not in met]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("name")
    parser.add_argument("--api", choices=HEADERS, default="blosc2")
    parser.add_argument("--theirs", required=True)
    parser.add_argument("--their-library")
    parser.add_argument("--ours", required=True, nargs="+")
    parser.add_argument("--our-library")
    parser.add_argument("--later", nargs="+")
    parser.add_argument("--accepted", required=True)
    parser.add_argument("--stand-ins")
    options = parser.parse_args()

    theirs, ours = facts(options.api, [options.theirs]), facts(options.api, options.ours)
    later = facts(options.api, options.later) if options.later else None
    if options.their_library:
        theirs |= library_facts(options.their_library)
        ours |= library_facts(options.our_library)
        if later is not None:
            later |= {f"symbol {key.removeprefix('function ')}": "function" for key in later if key.startswith("function ")}
    if options.stand_ins:
        stand_in(options.api, [options.theirs], f"{options.stand_ins}/theirs.so")
        stand_in(options.api, options.ours, f"{options.stand_ins}/ours.so")
    for kind, least in LEAST[options.api].items():
        for side, known in (("theirs", theirs), ("ours", ours)):
            count = sum(key.startswith(f"{kind} ") for key in known)
            if count < least:
                raise SystemExit(f"{options.name}: {count} facts of the kind {kind} in {side}, expected >= {least}")

    found = differences(theirs, ours, later)
    left, unmet = judge(options.name, found, accepted(options.accepted))
    for line in left:
        print(f"{options.name} {line}")
    for pattern in unmet:
        print(f"{options.name} this entry of the list matches no difference: {pattern}")
    print(f"ABI {options.name}: {len(theirs)} facts of theirs, {len(ours)} of ours, {len(found)} differences, "
          f"{len(left)} not accepted", file=sys.stderr)
    return 1 if left or unmet else 0


if __name__ == "__main__":
    sys.exit(main())
