"""Exact answers of beam and rod theory: what simulations are measured against.

Nothing here knows the formulations or the compiled kernels. ``vibration`` has frequencies and poles of
linear beams, ``large_deflection`` the elastica and other formulas, ``rod_statics`` the static shape of a
Simo-Reissner rod in space by shooting.
"""

from pliant.mechanics.closed_form.large_deflection import (
    Extension,
    elastica_tip,
    roll_up_tip,
    spin_up_angle,
    spinning_extension,
)
from pliant.mechanics.closed_form.rod_statics import (
    Rod,
    RodShape,
    bend_of_45_degrees,
    shear_deformable_cantilever,
    static_shape,
)
from pliant.mechanics.closed_form.vibration import (
    TimoshenkoBeam,
    clamped_free_frequencies,
    euler_bernoulli_cantilever_frequencies,
    euler_bernoulli_cantilever_roots,
    joint_pd_poles,
    pinned_free_frequencies,
    wave_frequencies,
)

__all__ = [
    "Extension",
    "Rod",
    "RodShape",
    "TimoshenkoBeam",
    "bend_of_45_degrees",
    "clamped_free_frequencies",
    "elastica_tip",
    "euler_bernoulli_cantilever_frequencies",
    "euler_bernoulli_cantilever_roots",
    "joint_pd_poles",
    "pinned_free_frequencies",
    "roll_up_tip",
    "shear_deformable_cantilever",
    "spin_up_angle",
    "spinning_extension",
    "static_shape",
    "wave_frequencies",
]
