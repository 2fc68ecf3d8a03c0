"""Loops compiled by numba: arrays in, arrays out, nothing checked; slow twins are in tests."""

from collections.abc import Callable

at_compilation: list[Callable[[str, bool], None]] = []
"""Called with each kernel that is compiled, "" at the end, and whether it can be kept.
It is here so that nothing else loads the compiler."""
