"""Loops compiled by numba. Private: arrays in, arrays out, nothing checked.

Each loop has a slow twin in ``tests/naive*.py`` that is obviously right.
"""

from collections.abc import Callable

at_first_compilation: list[Callable[[bool], None]] = []
"""What to call, once, when the first kernel has to be compiled; with whether it can be kept.

Here, so that commands that use no kernel need not load the compiler for it.
"""
