"""Prints the rows of scripts/count-instructions.sh from two profiles of callgrind.

    instruction_counts.py GROUP OURS REFERENCE

The profiles have the events `Ir` (instructions) and `sysCount` (system calls). A row is a function that `measured` calls.
"""
import sys


def costs(path):
    """Returns, for each function that `measured` calls, the number of calls and the sums of its events."""
    rows, function, callee, calls = {}, None, None, None
    with open(path) as profile:
        for line in profile:
            key, _, value = line.rstrip("\n").partition("=")
            if line.startswith("events:"):
                events = line.split()[1:]
            elif key == "fn":
                function = value
            elif key == "cfn":
                callee = value
            elif key == "calls":
                calls = int(value.split()[0])
            elif calls is not None:
                if function == "measured":
                    # Counters at the end of a line that are 0 are left out.
                    sums = dict(zip(events, map(int, line.split()[1:])))
                    rows[callee] = calls, sums["Ir"], sums.get("sysCount", 0)
                calls = None
    assert rows, f"{path} has no call"
    return rows


def main():
    group, ours, theirs = sys.argv[1], costs(sys.argv[2]), costs(sys.argv[3])
    assert ours.keys() == theirs.keys()
    # The profile has the last call first.
    for call, (calls, instructions, system_calls) in reversed(ours.items()):
        their_calls, their_instructions, their_system_calls = theirs[call]
        assert calls == their_calls
        system = f"{system_calls / calls:.1f} {their_system_calls / calls:.1f}" if system_calls or their_system_calls else ""
        ratio = their_instructions / instructions
        print(f"{call:<28} {group:<12} {instructions // calls:>10} {their_instructions // calls:>10} {ratio:>6.2f} {system:>14}")


main()
