"""The ports of a robot: every coordinate, end and length by its name, with effort and flow."""

from __future__ import annotations

from pliant.model.port import Causality, Frame, Port, ports_of
from tests.support.mixture import ROBOT


def wrench(name: str, causality: Causality = Causality.EFFORT_IN) -> Port:
    return Port(name, "wrench", "N, N m", "twist", "m/s, rad/s", 6, Frame.BODY, causality)


def test_joints_from_the_base_outwards_then_links_then_the_base() -> None:
    drive = (1, Frame.JOINT, Causality.EFFORT_IN)
    assert ports_of(ROBOT) == (
        Port("rail.slide", "force", "N", "rate", "m/s", *drive),
        Port("rail.turn", "torque", "N m", "rate", "rad/s", *drive),
        Port("hinge", "torque", "N m", "rate", "rad/s", *drive),
        Port("ball", "torque", "N m", "spin", "rad/s", 3, Frame.BODY, Causality.EFFORT_IN),
        wrench("flight"),
        wrench("sled.root"),
        wrench("sled.tip"),
        wrench("rod.root"),
        wrench("rod.tip"),
        # per length against the integral along the link, so that the product is in watts
        Port("rod.distributed", "wrench", "N/m, N", "twist", "m^2/s, rad m/s", 6, Frame.BODY, Causality.EFFORT_IN),
        wrench("plate.root"),
        wrench("plate.tip"),
        wrench("bob.root"),
        wrench("bob.tip"),
        wrench("drone.root"),
        wrench("drone.tip"),
        wrench("base", causality=Causality.FLOW_IN),
    )


def test_a_port_says_its_effort_and_flow_with_units() -> None:
    slide, tip = ports_of(ROBOT)[0], wrench("rod.tip")
    assert (slide.effort_words, slide.flow_words) == ("force (N)", "rate (m/s)")
    assert (tip.effort_words, tip.flow_words) == ("wrench (N, N m)", "twist (m/s, rad/s)")
