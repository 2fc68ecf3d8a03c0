"""What threads free, others take: memory of commands on large tables."""

import ctypes
import subprocess
import sys

import pytest

ARENAS = """
import ctypes
from threading import Barrier, Thread

from trajanon.cli.main import _share_a_heap

def allocate():
    barrier.wait()
    libc.malloc(1000)
    barrier.wait()

libc, barrier = ctypes.CDLL(None), Barrier(3)
if {shared}:
    _share_a_heap()
threads = [Thread(target=allocate) for _ in range(3)]
for each in threads:
    each.start()
for each in threads:
    each.join()
libc.malloc_stats()
"""


def arenas(shared: bool) -> int:
    command = [sys.executable, "-c", ARENAS.format(shared=shared)]
    told = subprocess.run(command, capture_output=True, check=True, text=True, timeout=60)
    return told.stderr.count("Arena ")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no glibc")
def test_threads_of_commands_share_a_heap() -> None:
    if not hasattr(ctypes.CDLL(None), "malloc_stats"):
        pytest.skip("this C library is not glibc")
    assert arenas(shared=True) == 1
    assert arenas(shared=False) > 1
