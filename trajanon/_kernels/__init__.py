"""Loops compiled by numba. Private: arrays in, arrays out, nothing checked.

Each loop has a slow twin in ``tests/naive*.py`` that is obviously right.
"""
