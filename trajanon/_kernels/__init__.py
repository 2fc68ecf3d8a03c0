"""Loops compiled by numba: arrays in, arrays out, nothing checked; slow twins are in tests."""

from collections.abc import Callable

at_first_compilation: list[Callable[[bool], None]] = []
"""Called once, when a kernel has to be compiled; here, so that nothing else loads the compiler."""
