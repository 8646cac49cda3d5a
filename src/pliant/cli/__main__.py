"""``python -m pliant.cli`` is ``pliant``."""

from pliant.cli import main

main()
