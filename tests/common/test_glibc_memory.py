"""What threads free, others take: memory of commands on large tables."""

import ctypes
import subprocess
import sys

import pytest

ARENAS = """
import ctypes
from threading import Barrier, Thread

from trajanon.common.glibc_memory import share_a_heap

def allocate():
    barrier.wait()
    libc.malloc(1000)
    barrier.wait()

libc, barrier = ctypes.CDLL(None), Barrier(3)
if {shared}:
    share_a_heap()
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


HELD = """
import resource
from pathlib import Path

from trajanon.common.glibc_memory import return_free_memory

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()

pieces = [bytearray(100_000) for _ in range(2_000)]
del pieces[:-1]  # the last lies above them
before = resident()
return_free_memory()
print(before - resident())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no glibc")
def test_what_is_free_below_others_is_given_back() -> None:
    if not hasattr(ctypes.CDLL(None), "malloc_trim"):
        pytest.skip("this C library is not glibc")
    command = [sys.executable, "-c", HELD]
    told = subprocess.run(command, capture_output=True, check=True, text=True, timeout=60)
    assert int(told.stdout) > 100_000_000
