"""Runs a WASI program with the Python package wasmtime, in a new directory: run_wasi.py PROGRAM [ARGUMENT...]"""
import sys
import tempfile

from wasmtime import Engine, ExitTrap, Linker, Module, Store, WasiConfig

with tempfile.TemporaryDirectory() as directory:
    config = WasiConfig()
    config.argv = sys.argv[1:]
    config.inherit_stdout()
    config.inherit_stderr()
    config.preopen_dir(directory, ".")
    engine = Engine()
    store, linker = Store(engine), Linker(engine)
    store.set_wasi(config)
    linker.define_wasi()
    instance = linker.instantiate(store, Module.from_file(engine, sys.argv[1]))
    try:
        instance.exports(store)["_start"](store)
    except ExitTrap as end:
        sys.exit(end.code)
