"""What may be chosen for co-rotational links, and what is refused in one sentence with the remedy."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import pliant as pl
from pliant.formulations.corotational import Axes, Beam, Mass
from tests.support.arms import soft_link


def test_the_paper_is_the_default() -> None:
    """Two super elements of five, no shear, inertia by directors; axes of the first end as far as they serve."""
    chosen = pl.Corotational()
    assert (chosen.elements, chosen.super_element) == (10, 5)
    assert (chosen.theory, chosen.mass, chosen.axes) == (Beam.EULER_BERNOULLI, Mass.DIRECTOR, Axes.AS_NEEDED)
    assert hash(chosen) == hash(pl.Corotational(elements=10))
    assert chosen.finer() == pl.Corotational(elements=20)
    assert pl.Corotational({"link": 3}).finer() == pl.Corotational({"link": 6})


@pytest.mark.parametrize(
    ("choice", "sentence"),
    [
        ({"super_element": 0}, "super_element = 0 must lie between 1 and 10000; 5 as in the paper"),
        ({"theory": "thick"}, "Corotational: theory = 'thick' is not known; write one of Beam.TIMOSHENKO, "),
        ({"mass": 0.5}, "Corotational: mass = 0.5 is not known; write one of Mass.DIRECTOR, "),
        ({"axes": None}, "Corotational: axes = None is not known; write one of Axes.AS_NEEDED, "),
    ],
)
def test_unknown_choices_are_refused(choice: dict[str, object], sentence: str) -> None:
    with pytest.raises(pl.InvalidInput) as refused:
        pl.Corotational(**choice)
    assert str(refused.value).startswith(sentence)


def of_section(inertia: np.ndarray) -> pl.Robot:
    section = pl.GeneralSection(stiffness=(1e4, 4e3, 4e3, 4.0, 6.0, 5.0), inertia=inertia.tolist())
    return pl.Robot("arm", (soft_link(section=section),), (pl.RevoluteJoint("hinge", "base", "link"),))


def test_axes_are_mean_where_sections_bend_more_easily_one_way() -> None:
    for name, expected in (("damic_two_link", Axes.FIRST_END), ("steel_strip", Axes.MEAN)):
        robot = pl.load(pl.library.path(name))
        assert Axes.AS_NEEDED.needed(robot) is expected
        assert Axes.FIRST_END.needed(robot) is Axes.FIRST_END


@pytest.mark.parametrize("place", [(1, 3), (4, 5)], ids=["mass off the axis", "axes not principal"])
def test_directors_refuse_sections_that_they_do_not_carry(place: tuple[int, int]) -> None:
    inertia = np.diag([0.3, 0.3, 0.3, 3e-4, 1e-4, 2e-4])
    inertia[place] = inertia[place[::-1]] = 2e-5
    if place == (1, 3):  # a centre of mass at z = -c: m c in both of its places
        inertia[0, 4] = inertia[4, 0] = -2e-5
    with pytest.raises(pl.InvalidInput, match=r"link 'link' has sections .* choose Corotational\(mass="):
        pl.Corotational(2).compile(of_section(inertia))
    pl.Corotational(2, mass=Mass.LUMPED).compile(of_section(inertia))


def test_messages_speak_of_the_formulation_that_was_chosen() -> None:
    robot = pl.Robot(
        "two",
        (soft_link("first"), soft_link("second")),
        (pl.RevoluteJoint("hinge", "base", "first"), pl.RevoluteJoint("other", "first", "second", station=0.4)),
    )
    with pytest.raises(pl.InvalidInput) as refused:
        pl.Corotational(4).compile(robot)
    assert "elements of Corotational" in str(refused.value)
    assert "PoseElement" not in str(refused.value)
    arm = pl.Corotational(2).compile(pl.Robot("one", (soft_link(),), (pl.RevoluteJoint("hinge", "base", "link"),)))
    with pytest.raises(pl.InvalidInput) as refused:
        pl.simulate(arm, 0.01, pl.Gauss(order=4, step=1e-3))
    assert str(refused.value).startswith("co-rotational elements step by their own midpoint rule")


def test_an_element_bent_beyond_its_measure_ends_the_run_in_a_sentence() -> None:
    """Two elements rolled up by a growing tip moment: past 1.2 rad between chord and section they tell nothing."""
    arm = pl.Corotational(2).compile(pl.Robot("one", (soft_link(),), (pl.FixedJoint("clamp", "base", "link"),)))
    roll = pl.TipWrench("link", pl.signals.Step((0.0, 0.0, 0.0, 0.0, 0.0, 60.0)), frame=pl.Frame.BODY)
    run = pl.simulate(pl.connect(arm, roll), 1.0, pl.Gauss(order=2, step=1e-3))
    assert not run.ending.completed
    assert "more elements" in str(run.ending)


def test_a_compiled_arm_pickles() -> None:
    arm = pl.Corotational(2, axes=Axes.MEAN).compile(
        pl.Robot("one", (soft_link(),), (pl.RevoluteJoint("hinge", "base", "link", initial_rate=1.0),))
    )
    again = pickle.loads(pickle.dumps(arm))
    runs = [pl.simulate(each, 0.01, pl.Gauss(order=2, step=1e-3)).states for each in (arm, again)]
    assert np.array_equal(*runs)


def test_a_mapping_that_changes_later_changes_no_formulation() -> None:
    counts = {"link": 3}
    for kind in (pl.Corotational, pl.PoseElement, lambda elements: pl.GeometricallyExact(4, elements)):
        chosen, same = kind(counts), kind({"link": 3})
        counts["link"] = 5
        assert chosen.elements == {"link": 3}
        assert chosen == same
        assert hash(chosen) == hash(same)
        counts["link"] = 3
