"""Code, messages and pages use the words of the field, and one word for one thing."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from pliant.jit import sources as kernel_cache
from tests.architecture.tree import ROOT, lines, python_files, text, text_files

WHERE = ("README.md", "CONTRIBUTING.md", "docs", "src", "tests", "benchmarks", "examples")
# private word: the word of the field
INSTEAD = {
    r"settl(?:e|es|ed|ing)": "equilibrium",
    r"machines?": "stepper",
    r"promis(?:e|es|ed|ing)": "tolerance",
    r"accounts?": "energy ledger",
    r"book(?:s|ed|ing|ings)?": "entry of the energy ledger",
    r"mismatch(?:es)?": "consistency error",
    r"notices?": "substitution",
    r"closures?": "constraint",
    r"gaps?": "violation",
    r"slides": "translates",
    r"unbent": "undeformed",
    r"idle": "massless",
    r"hangs?(?= of\b| *[=\[:(])": "joint type",
    r"rooms?": "formulation",
    r"houses?": "package",
    r"doors?": "public name, contract",
    r"waist": "contract",
    r"small[ _]motions?": "linearised motion",
}
# the same words where they mean what everybody means by them
MEANT = re.compile(
    r"settling time|(?:target_)?machine[ _]?(?:code|precision|epsilon|\()"
    r"|(?:this|same|virtual|busy|one|any|the)(?: x86-64)? machine\b|machine it ran on|MACHINE_PLACES"
    r"|accounts? for|into account"
    r"|room for\b|__closure__"
    r"|to notice|noticed|machine,? idle",
    re.IGNORECASE,
)
# files in which a word is a name: a robot's joint, a door that slams, distances between points, a textbook's title
NAMES = {
    "waist": ("src/pliant/library/anthropomorphic_three_link.yaml",),
    "door": ("docs/theory_lumped.md", "tests/formulations/minimal/test_joint_laws.py"),
    "gap": (
        "src/pliant/robot/declared.py",
        "src/pliant/mechanics/shape_functions.py",
        "src/pliant/formulations/pseudo_spectral/link.py",
    ),
}
# old names that still work and say the new one, and cases that also run on older versions
OLD_NAMES = (
    "src/pliant/renamed.py",
    "tests/model/test_renamed.py",
    "tests/architecture/test_roles.py",
    "tests/frozen/",
    "tests/record_kernels.py",
)
WORDS = re.compile(r"(?<![a-zA-Z])(?:" + "|".join(f"({word})" for word in INSTEAD) + r")(?![a-zA-Z])", re.IGNORECASE)


@cache
def kernel_texts() -> frozenset[str]:
    """Files whose text, comments too, is part of the key of the cache: an edit compiles kernels again."""
    marked = [path for path in python_files("src") if re.search(r"^@(?:in\w+_)?kernel$", text(path), re.MULTILINE)]
    found = {source for path in marked for source in kernel_cache.kernel_sources(path)}
    return frozenset(source.relative_to(ROOT).as_posix() for source in found)


def found_in(file: str, line: str) -> list[str]:
    return [
        f"{match.group(0)} -> {list(INSTEAD.values())[(match.lastindex or 1) - 1]}"
        for match in WORDS.finditer(MEANT.sub("", line))
        if file not in NAMES.get(match.group(0).lower().rstrip("s"), ())
    ]


def test_words_are_those_of_the_field() -> None:
    paths = [
        path
        for path in text_files(*WHERE)
        if path != Path(__file__).resolve() and path.suffix in (".py", ".md", ".yaml")
    ]
    found = [
        f"{file}:{number}: {word}"
        for file, number, line in lines(*paths)
        if not file.startswith(OLD_NAMES) and file not in kernel_texts()
        for word in found_in(file, line)
    ]
    assert not found, "\n".join(found)


def test_a_private_word_is_found_in_names_and_in_prose() -> None:
    assert found_in("a.py", "x = worst_gap + 1") == ["gap -> violation"]
    assert found_in("a.py", "the Doors of a machine") == ["Doors -> public name, contract", "machine -> stepper"]
    assert not found_in("a.py", "machine precision, taken into account; a textbook")
