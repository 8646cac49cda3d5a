"""The L frame of [vidoni2018] as two elastic bodies joined at the elbow, its bodies attached."""

from __future__ import annotations

import numpy as np

import pliant as pl
from pliant.formulations.equivalent_rigid_link.elastic_body import ElasticBody, RigidPart, join, with_parts
from pliant.formulations.equivalent_rigid_link.elements import BeamElement, MassMatrix, beam_body

# Table I and the inertias of the text: rods of square section; an elbow mass; motor and coupling at the base
YOUNG, POISSON, DENSITY, SIDE, LENGTH = 7e10, 0.33, 2700.0, 0.008, 0.5
ELBOW_MASS, BASE_INERTIA = 0.017, 0.0043 + 0.001269
# not printed: found from the frequencies of Table II
SHEAR_FACTOR, TORSION = 16.0 / 19.0, 0.142628266
# printed in Table II, without rigid motions: two elements, four, and four with 18 component modes
TWO_ELEMENTS = (
    23.33, 37.56, 1171.02, 1273.62, 2519.98, 2729.22, 2729.22, 3241.51, 5427.78, 9207.15, 10398.16, 12610.60,
)  # fmt: skip
FOUR_ELEMENTS = (
    28.19, 34.42, 103.25, 106.16, 186.90, 234.08, 1344.65, 1371.12, 3360.82, 3379.20, 3507.58, 3508.01, 5466.76,
    6104.64, 6104.64, 6483.02, 7991.92, 11313.76, 14071.89, 18313.23, 19697.79, 23294.27, 23651.84, 25068.96,
)  # fmt: skip
EIGHTEEN_MODES = (
    28.19, 34.42, 103.24, 106.16, 187.01, 234.08, 1434.45, 1463.87, 3761.82, 6368.74, 7310.70, 12023.24,
)  # fmt: skip


def rod() -> pl.FlexibleLink:
    area, moment, shear = SIDE**2, SIDE**4 / 12.0, YOUNG / 2.0 / (1.0 + POISSON)
    sheared, bending = SHEAR_FACTOR * shear * area, YOUNG * moment
    mass, rotary = DENSITY * area, DENSITY * moment
    section = pl.GeneralSection(
        stiffness=(YOUNG * area, sheared, sheared, shear * TORSION * SIDE**4, bending, bending),
        inertia=(mass, mass, mass, 2.0 * rotary, rotary, rotary),
    )
    return pl.FlexibleLink(name="rod", length=LENGTH, section=section)


def l_frame(
    per_rod: int, element: BeamElement = BeamElement.LINEAR, mass: MassMatrix = MassMatrix.LUMPED
) -> ElasticBody:
    """Rod 1 along x, rod 2 along y."""
    elbow, nothing = f"node[{per_rod}]", np.zeros((3, 3))
    parts = (
        RigidPart(elbow, ELBOW_MASS, np.zeros(3), nothing),
        RigidPart("node[0]", 0.0, np.zeros(3), np.diag([0.0, BASE_INERTIA, 0.0])),
    )
    one = beam_body(rod(), per_rod, element, mass)
    corner = np.eye(4)
    corner[:2, :2] = [[0.0, -1.0], [1.0, 0.0]]
    return join(with_parts(one, parts), one, elbow, corner, "second")
