"""Nothing that the package computes has changed unnoticed.

These numbers prove nothing: that they are right is proved by the other tests, against closed forms, other programs and
laws of physics. Here a change of any of them is only noticed, in some two hundred small models of every kind. What
changed, and by how much in which quantity, is told by comparing with the version before:

    python -m tests.frozen record before.npz    # with the sources before on PYTHONPATH
    python -m tests.frozen compare before.npz   # with those after

A result that changes for a good reason is renewed by ``python -m tests.frozen renew``; the commit that holds the new
``expected.npz`` says which results changed, by how much, and why the new ones are better.
"""

from __future__ import annotations

import re

import pytest

from tests.frozen.cases import BOOK
from tests.frozen.digest import Sum, digest, expected
from tests.frozen.frozen_file import outcome

EXPECTED = expected()
# Another processor rounds in another order, and Newton's method then stops an iteration earlier or later, which may
# change a step by what it leaves open. On one machine the same cases with instructions of older processors, in the
# kernels, in elementary functions and in linear algebra, differed by at most a thirtieth of these parts of the largest
# magnitude; the rest is room for processors that were not tried.
RUN = 1e-7
SLOW_NEWTON = 1e-5  # where factors are kept for many iterations, or stops and walls follow from small differences
MATRICES = 1e-6
POLES = 1e-6
MODES = 1e-5  # slow ones beside stiff links
TRANSFER = 1e-4  # of systems whose fastest poles are ten million times those of interest
ANSWERS = 1e-6
LINEAR = r"(start|moving|rest)/"
BY_QUANTITY = {
    rf"{LINEAR}transfer": TRANSFER,
    rf"{LINEAR}mode frequencies": MODES,
    rf"{LINEAR}pole sizes": POLES,
    rf"{LINEAR}.*": MATRICES,
}
BY_CASE = {r".*_lumped|.*_hinge_.*|moved_base_of_a_loop|.*adaptive|.*wall.*": SLOW_NEWTON}
# Unknowns of symmetric mechanisms are chosen between equals, and so by rounding: other unknowns, other matrices.
CHOSEN_BY_ROUNDING = re.compile(
    r"((library_)?parallelogram_.*|loop_standing_still.*|library_two_link_planar_pseudo) "
    rf"{LINEAR}(held/)?([MDK]|unbalanced|tip)"
    r"|parallelogram_driven_at_its_loop start/mode frequencies"  # a motion that friction alone holds
    r"|port_hamiltonian_\w+ reduced worst"  # a small difference of two responses
)


def tolerance(name: str, quantity: str, is_answer: bool) -> float:
    """Part of the largest magnitude by which a quantity may differ."""
    if CHOSEN_BY_ROUNDING.fullmatch(f"{name} {quantity}"):
        return float("inf")
    for table, key in ((BY_QUANTITY, quantity), (BY_CASE, name)):
        for pattern, value in table.items():
            if re.fullmatch(pattern, key):
                return value
    return ANSWERS if is_answer else RUN


def changed(name: str, before: dict[str, Sum], after: dict[str, Sum]) -> list[str]:
    """What differs, in words."""
    found = [f"{quantity} is missing" for quantity in before if quantity not in after]
    for quantity, was in before.items():
        now = after.get(quantity, was)
        if was.text != now.text:
            found.append(f"{quantity}: '{was.text}' became '{now.text}'")
        gap = abs(now.value - was.value) / max(was.size, 1e-300)
        if not gap <= tolerance(name, quantity, "ending" not in before):
            found.append(f"{quantity}: its sum changed by {gap:.1e} of its largest magnitude")
    return found


# Cases stand by kind: every other one of each kind is looked at often, the rest before a change is handed in.
@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.again if k % 2 else ()) for k, n in enumerate(BOOK)]
)
def test_nothing_changed(name: str) -> None:
    found = outcome(name)
    assert not found.raised, found.raised
    assert name in EXPECTED, "a new case; freeze it by python -m tests.frozen renew"
    differences = changed(name, EXPECTED[name], digest(name, found.numbers))
    assert not differences, "\n".join([f"{name}: see the head of this file", *differences])


def test_no_case_was_lost() -> None:
    assert set(EXPECTED) <= set(BOOK)
