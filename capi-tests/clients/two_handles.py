"""Reads an array through one handle, while another thread of the process holds the lock of the file through another handle.

    python capi-tests/clients/two_handles.py

Ends after 10 seconds with the places where the threads wait, if both wait for each other.
"""
import faulthandler
import tempfile
import threading
from pathlib import Path

import blosc2

faulthandler.dump_traceback_later(10, exit=True)
with tempfile.TemporaryDirectory() as directory:
    path = str(Path(directory, "array.b2nd"))
    written = blosc2.zeros((10, 1000), dtype="i8", chunks=(1, 1000), urlpath=path, locking=True)
    read = blosc2.open(path, mode="r", locking=True)
    is_held, stop = threading.Event(), threading.Event()

    def hold():
        with written.holding_lock():
            is_held.set()
            stop.wait(1)

    thread = threading.Thread(target=hold)
    thread.start()
    is_held.wait()
    print("read", read[0].sum())
    stop.set()
    thread.join()
