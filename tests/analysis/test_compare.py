"""Formulations compared on one manoeuvre: who is near, who is not and why, and what the report holds."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import pliant as pl
from pliant.analysis import compare as comparing
from tests.contract.formulations import KINDS
from tests.support.arms import on_a_hinge, soft_link

FEW = (pl.GeometricallyExact(), pl.Lumped(fields=3), pl.PseudoSpectral(degree=4), pl.MixedElement(), pl.Rigid())
STIFF = pl.GeneralSection(stiffness=(1e6, 4e5, 4e5, 60.0, 80.0, 80.0), inertia=(0.3, 0.3, 0.3, 3e-4, 1e-4, 2e-4))


def arm(section=STIFF, gravity=(0.0, -9.81, 0.0)):
    return on_a_hinge(soft_link("link", 1.0, section), gravity)


@cache
def fallen() -> pl.Comparison:
    return pl.compare(arm(), 0.2, formulations=FEW[:2] + FEW[4:])


def test_the_reference_is_ten_times_finer_and_rows_are_as_near_as_they_say():
    found = fallen()
    assert found.reference.trajectory.error.asked == pytest.approx(0.1 * found.asked)
    for row in found.rows:
        tips = row.trajectory.tip_position - found.reference.trajectory.tip_position
        assert row.furthest == pytest.approx(np.linalg.norm(tips, axis=1).max(), rel=1e-12)  # the reach is 1 m
        assert row.distance[0] < 1e-12
        assert row.cost > 0.0
    assert found.rows[0].furthest < found.asked


def test_a_joint_differs_as_its_positions_do():
    row, known = fallen().rows[1], fallen().reference.trajectory
    assert row.joint_difference == pytest.approx(row.trajectory.joint_position - known.joint_position)


def test_frequencies_are_those_of_modes_with_held_joints():
    link = pl.GeometricallyExact(degree=8).compile(arm())
    held = pl.connect(link, pl.PrescribedMotion("hinge", pl.motions.Hold(0.0)))
    assert fallen().reference.frequencies[0] == pytest.approx(pl.modes(held, count=1).frequency[0], rel=1e-4)


def test_the_bend_bounds_what_is_asked_of_a_stiff_arm():
    found = fallen()
    run = found.reference.trajectory
    bend = np.linalg.norm(run.tip_deflection, axis=1).max()
    assert found.asked == pytest.approx(min(1e-3, 0.1 * bend), rel=1e-2)  # a first, coarser run told the bend
    assert found.rows[-1].bend == pytest.approx(found.rows[-1].furthest / bend)


def test_every_formulation_is_tried_and_says_how_far_its_theory_holds():
    tried = [choice.make(choice.counts[0]) for choice in comparing.choices()]
    assert {type(each).__name__ for each in tried} == {type(kind.formulation).__name__ for kind in KINDS}
    for formulation in tried:
        assert formulation.validity.reason
        assert formulation.validity.strain >= 0.0
        assert formulation.validity.rotation >= 0.0


def test_the_smallest_mesh_that_is_near_enough_is_found(monkeypatch):
    tried = comparing.choices()
    monkeypatch.setattr(comparing, "choices", lambda: (tried[0], tried[4]))
    found = pl.compare(arm(), 0.1, accuracy=1e-3)
    lumped = next(row for row in found.rows if isinstance(row.formulation, pl.Lumped))
    assert lumped.furthest <= found.asked
    fields = lumped.formulation.fields
    fewer = {2: 1, 3: 2, 4: 3, 6: 4, 8: 6, 12: 8}[fields]  # the next in the row that is tried
    coarser = pl.compare(arm(), 0.1, formulations=(pl.GeometricallyExact(), pl.Lumped(fields=fewer)))
    assert coarser.rows[1].furthest > found.asked
    assert lumped.label == f"lumped with {fields} fields"
    assert "Take " in found.recommendation


def test_what_bends_far_leaves_small_deflections_behind_and_the_row_says_so():
    soft = pl.GeneralSection(stiffness=(1e4, 4e3, 4e3, 2.0, 3.0, 3.0), inertia=(0.3, 0.3, 0.3, 3e-4, 1e-4, 2e-4))
    modal = pl.EquivalentRigidLink(elements=4)
    held = pl.PrescribedMotion("hinge", pl.motions.Hold(0.0))
    found = pl.compare(arm(soft), 0.3, formulations=(pl.GeometricallyExact(), modal), drives=(held,))
    exact, small = found.rows
    # the tip of a cantilever of 1 m, 0.3 kg and EI = 3 N m^2 turns by q L^3 / (6 EI) = 0.16 rad, and swings to twice
    assert small.rotation == pytest.approx(2.0 * 0.3 * 9.81 / (6.0 * 3.0), rel=0.1)
    assert not exact.beyond
    assert small.beyond
    assert "rotation" in small.beyond[0]
    assert found.recommended is exact


def test_a_robot_that_nothing_moves_makes_a_smooth_move():
    found = pl.compare(arm(gravity=(0.0, 0.0, 0.0)), 0.2, formulations=FEW[:1])
    assert "since nothing else sets the robot in motion" in found.manoeuvre
    assert found.reference.trajectory.joint_position[-1] == pytest.approx([0.6])


def test_a_given_state_is_carried_to_all():
    link = pl.GeometricallyExact(degree=4).compile(arm())
    held = pl.connect(link, pl.PrescribedMotion("hinge", pl.motions.Hold(0.0)))
    bent = pl.equilibrium(held).state
    found = pl.compare(arm(), 0.05, formulations=FEW[:2], initial=(link, bent))
    start = link.tip(bent[None])[0]
    for row in found.rows:
        assert row.carried is not None
        assert row.trajectory.tip_position[:1] == pytest.approx(start, abs=row.carried.position + 1e-10)


def test_refused_formulations_say_why():
    found = pl.compare(arm(gravity=(0.0, 0.0, 0.0)), 0.02, formulations=(*FEW, pl.Lumped(fields={"nowhere": 2})))
    (refusal,) = found.refused
    assert "'nowhere' is not a flexible link" in refusal.reason


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"robot": "wang_beam"}, "is no robot; load one"),
        ({"until": -1.0}, "until = -1 s must be positive"),
        ({"accuracy": 2.0}, "accuracy = 2 must lie between"),
        ({"formulations": ()}, "formulations is empty"),
        ({"formulations": (3,)}, "formulations: 3 is no formulation"),
    ],
)
def test_bad_use_is_answered_in_a_sentence(given, said):
    with pytest.raises(pl.InvalidInput, match=re.escape(said)):
        pl.compare(**{"robot": arm(), "until": 0.1, **given})


def test_a_robot_that_nothing_runs_is_refused_with_the_first_reason():
    with pytest.raises(pl.InvalidInput, match="no formulation runs robot 'pendulum'"):
        pl.compare(arm(), 0.1, formulations=(pl.Lumped(fields={"nowhere": 2}),))


def test_the_table_has_a_row_for_each_and_the_report_needs_no_network(tmp_path):
    found = replace(fallen(), manoeuvre="a <b> & c")
    table = found.table()
    assert list(table.index) == [row.label for row in found.rows]
    assert table["times cheaper"].iloc[0] == pytest.approx(1.0)
    path = tmp_path / "report.html"
    found.report(path)
    page = path.read_text(encoding="utf-8")
    assert path.stat().st_size < 5e6
    assert not re.findall(r"(?:src|href)=['\"](?!data:)", page)
    assert "url(" not in re.sub(r"data:[^'\"]*", "", page)
    for row in found.rows:
        assert row.label in page
    assert found.sentences[0] in page
    assert "a &lt;b&gt; &amp; c" in page
    with pytest.raises(pl.InvalidInput, match="exists already"):
        found.report(path)
    assert "Comparison of robot" in repr(found)
    assert "<table>" in found._repr_html_()


def test_ctrl_c_keeps_what_was_computed():
    lines = []

    def stop(line):
        lines.append(line)
        if len(lines) > 3:
            raise KeyboardInterrupt

    found = pl.compare(arm(), 0.05, formulations=FEW, progress=stop)
    assert found.interrupted
    assert 0 < len(found.rows) < len(FEW)
    assert any(line.startswith("0 % done, ") for line in lines)


def test_trials_that_take_long_end_the_search_and_the_row_says_so(monkeypatch):
    tried = comparing.choices()
    monkeypatch.setattr(comparing, "choices", lambda: (tried[0], tried[4]))
    monkeypatch.setattr(comparing, "MOST_SECONDS", 0.0)
    found = pl.compare(arm(), 0.05)
    assert found.rows[1].cut_short
    assert found.rows[1].label == "lumped with 1 field"
    assert "finer meshes left out" in found.recommendation
