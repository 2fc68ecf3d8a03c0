"""Exit codes of commands, for scripts."""

RELEASE_AT_FAULT = 1
"""A release does not keep its promise, or is not to be published."""

BAD_INPUT = 2
"""Something that the user has to mend; one sentence says what."""

DEFECT = 70
"""The program failed; the traceback is shown."""

INTERRUPTED = 130
"""Ctrl-C, as shells report it."""

SIGNAL_OFFSET = 128
"""Added to the number of a signal that ended the program, as shells do."""
