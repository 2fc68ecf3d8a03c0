"""``python -m trajanon``, the same as ``trajanon``."""

from trajanon.cli.main import main

main()
