"""A short run of every fuzzer, and once more all that failed before."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.fuzzers import FUZZERS
from tests.fuzz.judge import judged

TRIED = {"robot_files": 150, "api": 1500, "components": 60, "command_line": 40, "result_files": 60, "cache_files": 100}
TRIED |= {"attachments": 40, "choices": 40}
KEPT = [line.split() for line in Path(__file__).with_name("cases.txt").read_text().splitlines() if line.strip()]


@pytest.mark.parametrize("name", FUZZERS)
def test_nonsense_is_answered_by_a_result_or_a_sentence(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    seeds = [*range(TRIED[name]), *(int(seed) for kept, seed in KEPT if kept == name)]
    found = {seed: judged(FUZZERS[name], name, seed) for seed in seeds}
    wrong = [f"python -m tests.fuzz {name} {seed}: {reason}" for seed, (_, reason) in found.items() if reason]
    assert not wrong, "\n".join(wrong[:5])
