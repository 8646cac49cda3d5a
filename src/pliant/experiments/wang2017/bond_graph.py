"""The rig of Fig. 4 as a bond graph: motor, elastic gear (1) to (3), hub (39) and the beam, of mixed elements here."""

from __future__ import annotations

import numpy as np

from pliant import bond_graph as bg
from pliant.bond_graph.mixed_element import link_elements
from pliant.experiments.wang2017.beam import link
from pliant.experiments.wang2017.rig import GEAR, HUB, RADIUS, RATIO, ROTOR

ELEMENTS = 20


def rig_graph(elements: int = ELEMENTS) -> bg.Component:
    """The torque on the rotor, driven side, is left open; the tip is free."""
    rim = np.zeros((6, 1))
    rim[1], rim[5] = RADIUS, 1.0  # v_h = r_h theta_h' across the beam, and the rate of the hub about its axis
    motor = bg.Component(
        {"rotor": bg.OneJunction(domain=bg.ROTATION), "I_M": bg.I(inertia=RATIO**2 * ROTOR)},
        [bg.Bond("rotor", "I_M")],
        {"torque": "rotor", "shaft": "rotor"},
        about="rotor and fast part of the gear, seen from the driven side (3)",
    )
    gear = bg.Component(
        {"M_s": bg.ZeroJunction(domain=bg.ROTATION), "spring": bg.C(stiffness=GEAR)},
        [bg.Bond("M_s", "spring")],
        {"motor": "M_s", "hub": "M_s"},
        about="elastic gear",
    )
    hub = bg.Component(
        {"theta_h": bg.OneJunction(domain=bg.ROTATION), "I_h": bg.I(inertia=HUB), "rim": bg.TF(ratio=rim)},
        [bg.Bond("theta_h", "I_h"), bg.Bond("theta_h", "rim")],
        {"gear": "theta_h", "beam": "rim.b"},
        about="rigid hub",
    )
    parts: dict[str, bg.Component | bg.Se] = {
        "M_M": bg.Se(domain=bg.ROTATION),
        "Motor": motor,
        "Gear": gear,
        "Hub": hub,
    }
    parts |= {"Beam": link_elements(link(), elements)[0], "End": bg.Se(effort=(0.0,) * 6)}
    bonds = [
        bg.Bond("M_M", "Motor.torque"),
        bg.Bond("Motor.shaft", "Gear.motor"),
        bg.Bond("Gear.hub", "Hub.gear"),
        bg.Bond("Hub.beam", "Beam.left"),
        bg.Bond("End", "Beam.right"),
    ]
    return bg.Component(parts, bonds, about="single-link flexible manipulator, Fig. 4")
