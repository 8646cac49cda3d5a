"""What every reproduced paper is asked."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from pliant.experiments import comparison
from tests.support.figures import leave_empty

Again = tuple[Path, list[comparison.Finding]]


def reproduced(run: ModuleType, factory: pytest.TempPathFactory) -> Again:
    """The folder that a quick run of an experiment filled, and what it found; the commands of its page render."""
    folder = factory.mktemp(run.__name__.split(".")[1])
    with pytest.MonkeyPatch.context() as patch:
        leave_empty(patch)
        return folder, run.main(folder, quick=True)


def check_numbers_and_figures(run: ModuleType, again: Again) -> None:
    """All expected numbers are met, and the figures are those that the experiment's README names."""
    folder, findings = again
    own = Path(str(run.__file__)).parent
    assert len(findings) == len(comparison.read_expected(own / "expected.yaml"))
    assert all(finding.ok for finding in findings)
    named = {line.split("`")[1] for line in (own / "README.md").read_text().splitlines() if "| `" in line}
    assert named == {path.name for path in folder.glob("*.png")}
