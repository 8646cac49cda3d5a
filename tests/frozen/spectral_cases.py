"""Cases of spectral links and mixed elements, and of what drives and loads any arm."""

from __future__ import annotations

from functools import partial

import numpy as np

import pliant as pl
from tests.frozen import arms
from tests.frozen.case import Array, Case, case, enter, library, midpoint

SPECTRAL = pl.GeometricallyExact
BODY = pl.Frame.BODY
ROOMS = {
    "exact": lambda: pl.GeometricallyExact(degree=3),
    "pose": lambda: pl.PoseElement(elements=3),
    "lumped": lambda: pl.Lumped(fields=2),
    "rigid": lambda: pl.Rigid(),
    "pseudo": lambda: pl.PseudoSpectral(degree=6),
}
REFUSED = {  # the links of adam are springs without mass: point masses carry it, in a case of its own
    "exact": ("adam",),
    "pose": ("adam",),
    "lumped": ("adam",),
    "rigid": (),
    "pseudo": (
        "adam",
        "anthropomorphic_three_link",
        "l_frame",
        "parallelogram",
        "rubber_pendulum",
        "seven_joint_two_flexible",
    ),
}


def held(room: str, name: str) -> Case:
    """An arm of the library, pulled a little away from its start by feedback on all joints."""
    arm = ROOMS[room]().compile(library(name))
    start = zip(arm.joint_names, arm.layout.part(arm.initial_state(), "joint_position").tolist())
    away = {joint: pl.motions.Hold(place + 0.05) for joint, place in start}
    law = pl.JointPD(list(away.values()), stiffness=50.0, damping=2.0, joints=list(away))
    order = 4 if room in ("exact", "pseudo") and arm.highest_order >= 4 else 2
    return Case(pl.connect(arm, law), 0.03, pl.Gauss(order=order, step=1e-3), settled=True)


for _room in ROOMS:
    for _name in pl.library.names():
        if _name not in REFUSED[_room]:
            enter(f"library_{_name}_{_room}", partial(held, _room, _name))


def swinging(
    formulation: object, integrator: object, until: float = 0.04, robot: pl.Robot | None = None, *parts: object
) -> Case:
    model = formulation.compile(robot or arms.two_links())
    return Case(pl.connect(model, *parts), until, integrator)


for _order, _step in ((2, 1e-3), (4, 1e-3), (6, 2e-3), (8, 2e-3)):
    enter(f"two_links_gauss_{_order}", partial(lambda o, h: swinging(SPECTRAL(4), pl.Gauss(o, h)), _order, _step))
for _degree, _elements in ((1, 8), (2, 3), (8, 1), (12, 1), (5, 2)):
    enter(
        f"degree_{_degree}_elements_{_elements}",
        partial(
            lambda d, e: swinging(SPECTRAL(d, e), pl.Gauss(4, 1e-3), 0.03, arms.on_a_hinge(arms.soft("link"))),
            _degree,
            _elements,
        ),
    )


@case
def elements_by_link() -> Case:
    return swinging(SPECTRAL(3, {"upper": 2, "lower": 1}), pl.Gauss(4, 1e-3))


@case
def generalized_alpha() -> Case:
    return swinging(SPECTRAL(4), pl.GeneralizedAlpha(step=1e-3))


@case
def generalized_alpha_that_damps_most() -> Case:
    return swinging(SPECTRAL(4), pl.GeneralizedAlpha(step=1e-3, spectral_radius=0.0))


@case
def adaptive() -> Case:
    return swinging(SPECTRAL(3), pl.Adaptive(accuracy=1e-7, order=6), 0.02)


@case
def outputs_between_steps() -> Case:
    model = SPECTRAL(4).compile(arms.two_links())
    return Case(model, 0.03, pl.Gauss(4, 2e-3), outputs=np.array([0.0005, 0.0071, 0.0203, 0.03]), linear=False)


def link_of(name: str) -> pl.FlexibleLink:
    coupled = np.diag(arms.STIFFNESS)
    coupled[3, 5] = coupled[5, 3] = 1.5
    coupled[0, 4] = coupled[4, 0] = 30.0
    rubber = pl.Material(name="rubber", young=1e8, density=1100.0, shear=4e7, damping=1e-3)
    wave = [(0.0, 0.0, 0.0, 0.3, 0.5, 0.0), (0.01, 0.0, 0.0, 0.0, 0.2, 0.8), (0.0, 0.0, 0.0, 0.1, 0.0, -0.4)]
    steps = (pl.Rectangle(0.03, 0.02), pl.Rectangle(0.02, 0.02), pl.Rectangle(0.015, 0.01), pl.Rectangle(0.01, 0.01))
    return {
        "hardening": lambda: arms.soft("link", law=pl.sections.HardeningLaw((10.0,) * 3 + (2.0,) * 3, (0.1,) * 6)),
        "kelvin_voigt_and_drag": lambda: arms.soft(
            "link", section=arms.DAMPED, viscous_damping=(0.1, 0.2, 0.3, 0.01, 0.02, 0.01)
        ),
        "tapered": lambda: pl.FlexibleLink(
            "link", 0.8, section=pl.sections.Tapered(pl.Tube(0.02, 0.015), pl.Tube(0.01, 0.006)), material=rubber
        ),
        "stations": lambda: pl.FlexibleLink(
            "link", 0.8, section=pl.sections.Stations((0.0, 0.3, 0.3, 0.8), steps), material=rubber
        ),
        "coupled": lambda: arms.soft(
            "link", section=pl.GeneralSection(stiffness=coupled.tolist(), inertia=arms.INERTIA)
        ),
        "arc": lambda: arms.soft("link", rest_shape=pl.rest_shapes.Arc(angle=1.2, normal=pl.rest_shapes.Across.Y)),
        "helix": lambda: arms.soft("link", rest_shape=pl.rest_shapes.Helix(radius=0.2, pitch=0.1)),
        "strain_field": lambda: arms.soft("link", rest_shape=pl.rest_shapes.StrainField((0.0, 0.3, 0.7), wave)),
    }[name]()


LINKS = ("hardening", "kelvin_voigt_and_drag", "tapered", "stations", "coupled", "arc", "helix", "strain_field")


def sagging(name: str, formulation: object, order: int) -> Case:
    """On a hinge that feedback holds, from rest, then pushed."""
    arm = formulation.compile(arms.on_a_hinge(link_of(name)))
    hold = pl.JointPD(pl.motions.Hold(0.0), 20.0, 0.5)
    push = pl.TipWrench("link", pl.signals.Step((0.0, 1.0, -0.5, 0.02, 0.0, 0.03), at=0.005))
    return Case(pl.connect(arm, hold, push), 0.03, pl.Gauss(order, 1e-3), from_rest=True)


for _name in LINKS:
    enter(f"link_{_name}_exact", partial(lambda n: sagging(n, SPECTRAL(5), 4), _name))
    if _name != "hardening":
        enter(f"link_{_name}_pose", partial(lambda n: sagging(n, pl.PoseElement(5), 2), _name))
    if _name not in ("hardening", "kelvin_voigt_and_drag"):
        enter(f"link_{_name}_lumped", partial(lambda n: sagging(n, pl.Lumped(3), 2), _name))


@case
def every_motion() -> Case:
    """All kinds of prescribed motion, added up on two joints."""
    table = pl.motions.MotionTable((0.0, 0.01, 0.02, 0.05), (0.3, 0.31, 0.35, 0.4), begin_rate=0.0, end_rate=1.0)
    function = pl.motions.FunctionMotion(lambda t: (0.1 * t**3, 0.3 * t**2, 0.6 * t))
    shoulder = pl.motions.MotionSum([table, function, pl.motions.Cycloid(0.0, 0.1, 0.02, begin=0.005)])
    moves = [
        pl.motions.BangBang(-0.8, -0.7, 0.02),
        pl.motions.SmoothStart(2.0, 0.01),
        pl.motions.Quintic(0.0, 0.2, 0.03),
        pl.motions.Hold(0.1),
    ]
    return swinging(
        SPECTRAL(4),
        pl.Gauss(4, 1e-3),
        0.04,
        None,
        pl.PrescribedMotion("shoulder", shoulder),
        pl.PrescribedMotion("elbow", pl.motions.MotionSum(moves)),
    )


@case
def every_signal() -> Case:
    """All kinds of signals as torques."""
    drawn = pl.signals.PiecewiseLinear((0.0, 0.01, 0.03), (0.0, 1.0, -0.5))
    smooth = pl.signals.SignalTable((0.0, 0.01, 0.02, 0.04), (0.2, 0.5, -0.3, 0.1))
    function = pl.signals.FunctionSignal(lambda t: np.tanh(40.0 * t))
    rest = [pl.signals.Constant(0.1), pl.signals.Step(-0.7, at=0.0155), pl.signals.Sine(0.4, 30.0, 0.3), smooth]
    return swinging(
        SPECTRAL(4),
        pl.Gauss(4, 1e-3),
        0.04,
        None,
        pl.JointTorque("shoulder", pl.signals.SignalSum(rest)),
        pl.JointTorque("elbow", drawn),
        pl.JointTorque("elbow", function),
    )


def loaded(formulation: object, order: int, robot: pl.Robot | None = None) -> Case:
    """Dead and follower wrenches on tips, along links and at a station, and feedforward."""
    wave = pl.signals.Sine((1.0, -2.0, 0.5, 0.02, 0.03, -0.01), 20.0, phase=0.5)
    spread = pl.signals.Constant((0.2, 0.5, -0.3, 0.01, 0.0, 0.02))
    parts = (
        pl.TipWrench("lower", wave, name="dead"),
        pl.TipWrench("upper", wave, frame=BODY, name="follower"),
        pl.DistributedWrench("upper", spread),
        pl.DistributedWrench("lower", spread, frame=BODY),
        pl.PointWrench(pl.At("upper", station=0.35), wave, BODY, name="inside"),
        pl.JointPD(
            [pl.motions.Hold(0.2), pl.motions.Quintic(-0.8, -0.5, 0.03)],
            (20.0, 15.0),
            0.3,
            feedforward=pl.signals.Sine(0.5, 10.0),
        ),
    )
    arm = formulation.compile(robot or arms.two_links())
    return Case(pl.connect(arm, *parts), 0.04, pl.Gauss(order, 1e-3), settled=True)


enter("loads_exact", lambda: loaded(SPECTRAL(4), 4))
enter("loads_pose", lambda: loaded(pl.PoseElement(4), 2))
enter("loads_lumped", lambda: loaded(pl.Lumped(2), 2))
enter("loads_rigid", lambda: loaded(pl.Rigid(), 2))


@case
def branched_exact() -> Case:
    return swinging(SPECTRAL(3), pl.Gauss(4, 1e-3), 0.04, arms.branched())


@case
def branched_pose() -> Case:
    return swinging(pl.PoseElement(3), midpoint(), 0.04, arms.branched())


@case
def clamped_exact() -> Case:
    arm = SPECTRAL(6).compile(arms.clamped(arms.soft("beam")))
    return Case(arm, 0.03, pl.Gauss(6, 1e-3), settled=True)


for _alpha in (0.5, 0.7):
    enter(
        f"mixed_element_alpha_{_alpha}",
        partial(lambda a: sagging("kelvin_voigt_and_drag", pl.MixedElement(12, a), 4), _alpha),
    )


@case
def mixed_element_of_the_library() -> Case:
    arm = pl.MixedElement(10).compile(library("macchelli_link"))
    return Case(pl.connect(arm, pl.JointPD(pl.motions.Quintic(0.0, 1.0, 0.1), 15.0, 3.0)), 0.05, pl.Gauss(4, 1e-3))


@case
def mixed_element_prescribed() -> Case:
    arm = pl.MixedElement(8).compile(library("steel_strip"))
    return Case(
        pl.connect(arm, pl.PrescribedMotion("hub", pl.motions.BangBang(0.0, 0.3, 0.04))), 0.05, pl.Gauss(2, 1e-3)
    )


def rolled(when_bent: pl.geometrically_exact.WhenBent) -> Case:
    """A soft rod, rolled up by a moment of many times its bending stiffness."""
    section = pl.GeneralSection(
        stiffness=(1e4, 5e3, 5e3, 0.5, 0.5, 0.5),
        inertia=(0.2, 0.2, 0.2, 1e-4, 1e-4, 1e-4),
        damping=(0.5, 0.5, 0.5, 1e-3, 1e-3, 1e-3),
    )
    hand = pl.RigidLink("hand", (0.05, 0.0, 0.0), 0.02, center_of_mass=(0.02, 0.0, 0.0), inertia=(1e-4,) * 3)
    hinge, grip = pl.RevoluteJoint("hinge", "base", "rod"), pl.FixedJoint("grip", "rod", "hand")
    whip = pl.Robot("whip", (arms.soft("rod", 1.0, section), hand), (hinge, grip))
    arm = SPECTRAL(5, when_bent=when_bent).compile(whip)
    moment = pl.TipWrench("hand", pl.signals.Constant((0.0, 0.0, 0.0, 0.0, 0.0, 12.0)), frame=BODY)
    parts = (pl.PrescribedMotion("hinge", pl.motions.Hold(0.0)), moment)
    return Case(pl.connect(arm, *parts), 0.07, pl.Gauss(4, 2e-3), linear=False)


enter("bent_too_far_hands_over", lambda: rolled(pl.geometrically_exact.WhenBent.HAND_OVER))
enter("bent_too_far_stops", lambda: rolled(pl.geometrically_exact.WhenBent.STOP))


@case
def step_far_too_long() -> Case:
    return Case(SPECTRAL(4).compile(arms.two_links()), 2.0, pl.Gauss(4, 0.2), linear=False)


@case
def signal_that_is_not_a_number() -> Case:
    def torque(times: Array) -> Array:
        return np.where(times < 0.0201, 0.2, np.nan)

    model = pl.connect(
        SPECTRAL(3).compile(arms.two_links()), pl.JointTorque("elbow", pl.signals.FunctionSignal(torque))
    )
    return Case(model, 0.04, pl.Gauss(4, 1e-3), linear=False)
