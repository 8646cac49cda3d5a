"""``python -m pliant`` is ``pliant``."""

from pliant.cli import main

main()
