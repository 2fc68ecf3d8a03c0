"""``python -m trajanon``, the same as ``trajanon``."""

from trajanon.cli import main

main()
