"""Runs a WASI program with the Python package wasmtime, in a new directory:

    run_wasi.py PROGRAM [ARGUMENT...]
    run_wasi.py --each-test PROGRAM SKIPPED...

The second form runs each test of a Rust test program by itself, except those whose names contain a SKIPPED: a panic ends a WASI program.
"""
import os
import sys
import tempfile

from wasmtime import Config, Engine, ExitTrap, Linker, Module, Store, Trap, WasiConfig, WasmtimeError


def run(engine, linker, module, arguments, output=None):
    """Returns the exit code, -1 after a panic. The output goes to a file, if one is given."""
    with tempfile.TemporaryDirectory() as directory:
        config = WasiConfig()
        config.argv = arguments
        if output:
            config.stdout_file = config.stderr_file = output
        else:
            config.inherit_stdout()
            config.inherit_stderr()
        config.preopen_dir(directory, ".")
        store = Store(engine)
        store.set_wasi(config)
        try:
            linker.instantiate(store, module).exports(store)["_start"](store)
        except ExitTrap as end:
            return end.code
        except (Trap, WasmtimeError):
            return -1
        return 0


def run_each_test(program, skipped):
    """Returns the number of tests that failed, after it has printed the result of each."""
    engine, linker, module = load(program)
    with tempfile.TemporaryDirectory() as directory:
        output = os.path.join(directory, "output")

        def run_tests(*arguments):
            code = run(engine, linker, module, [program, *arguments], output)
            with open(output, encoding="utf-8", errors="replace") as file:
                return code, file.read()

        _, listed = run_tests("--list")
        names = [line[: -len(": test")] for line in listed.splitlines() if line.endswith(": test")]
        chosen = [name for name in names if not any(part in name for part in skipped)]
        failed = []
        for name in chosen:
            code, text = run_tests("--exact", name, "--nocapture")
            if code != 0 or "1 passed" not in text and "1 ignored" not in text:
                failed.append(name)
                print(f"test {name} ... FAILED\n{text}")
        print(f"{len(chosen) - len(failed)} passed; {len(failed)} failed; {len(names) - len(chosen)} skipped")
        for name in failed:
            print(f"    {name}")
        return 0 if chosen and not failed else 1


def load(program):
    config = Config()
    config.cranelift_opt_level = "speed"
    engine = Engine(config)
    linker = Linker(engine)
    linker.define_wasi()
    return engine, linker, Module.from_file(engine, program)


if sys.argv[1] == "--each-test":
    sys.exit(run_each_test(sys.argv[2], sys.argv[3:]))
sys.exit(run(*load(sys.argv[1]), sys.argv[1:]))
