"""Exact answers of beam and rod theory: what simulations are measured against.

Nothing here knows the formulations or the compiled kernels. ``beam_modes`` has frequencies and mode shapes of
uniform Timoshenko beams between any ends of ``timoshenko_beam``, ``beam_response`` their transfer functions,
``beam_poles`` poles under joint PD; all of them rest on ``beam_waves``. ``vibration`` has formulas of textbooks,
``large_deflection`` the elastica and others, ``rod_statics`` the static shape of a Simo-Reissner rod by shooting,
``two_station_arm`` the vibrations of two massless beams that carry two masses.
"""

from pliant.mechanics.closed_form.beam_modes import (
    BeamMode,
    modes_below,
    natural_frequencies,
    natural_modes,
    rigid_motions,
)
from pliant.mechanics.closed_form.beam_poles import joint_pd_poles
from pliant.mechanics.closed_form.beam_response import (
    EndSignal,
    ForcedResponse,
    forced_response,
    transfer_function,
)
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
from pliant.mechanics.closed_form.timoshenko_beam import (
    CLAMPED,
    FREE,
    GUIDED,
    PINNED,
    BeamEnd,
    Motion,
    TimoshenkoBeam,
    body,
    hub,
)
from pliant.mechanics.closed_form.two_station_arm import TwoStationArm, frequencies
from pliant.mechanics.closed_form.vibration import (
    euler_bernoulli_cantilever_frequencies,
    euler_bernoulli_cantilever_roots,
    wave_frequencies,
)

__all__ = [
    "CLAMPED",
    "FREE",
    "GUIDED",
    "PINNED",
    "BeamEnd",
    "BeamMode",
    "EndSignal",
    "Extension",
    "ForcedResponse",
    "Motion",
    "Rod",
    "RodShape",
    "TimoshenkoBeam",
    "TwoStationArm",
    "bend_of_45_degrees",
    "body",
    "elastica_tip",
    "euler_bernoulli_cantilever_frequencies",
    "euler_bernoulli_cantilever_roots",
    "forced_response",
    "frequencies",
    "hub",
    "joint_pd_poles",
    "modes_below",
    "natural_frequencies",
    "natural_modes",
    "rigid_motions",
    "roll_up_tip",
    "shear_deformable_cantilever",
    "spin_up_angle",
    "spinning_extension",
    "static_shape",
    "transfer_function",
    "wave_frequencies",
]
