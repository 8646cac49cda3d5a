"""Processes that tests start and end."""

from __future__ import annotations

import signal
import subprocess
from typing import Any


def _hear() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def started(command: list[str], **options: Any) -> subprocess.Popen[str]:
    """A process that hears Ctrl-C, as in a terminal, even where these tests are a job in the background."""
    return subprocess.Popen(command, text=True, preexec_fn=_hear, **options)
