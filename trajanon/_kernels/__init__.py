"""Loops compiled by numba: arrays in, arrays out, nothing checked; slow twins are in tests."""

from collections.abc import Callable

compilation_listeners: list[Callable[[str, bool], None]] = []
"""Called with the name of each kernel whose compilation begins, or "" once none is compiled any
more, and with whether kernels can be kept between runs. They are here, not in `compiled`, so that
whoever listens does not load the compiler."""
