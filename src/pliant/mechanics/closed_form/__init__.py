"""Exact answers of beam and rod theory: what simulations are measured against.

Nothing here knows the formulations or the compiled kernels. ``beam_modes`` has frequencies and mode shapes of
uniform Timoshenko beams between any ends of ``timoshenko_beam``, ``beam_response`` their transfer functions,
``beam_poles`` poles under joint PD; all of them rest on ``beam_waves``. ``vibration`` has formulas of textbooks,
``large_deflection`` the elastica and others, ``rod_statics`` the static shape of a Simo-Reissner rod by shooting,
``two_station_arm`` the vibrations of two massless beams that carry two masses.
"""

from pliant.mechanics.closed_form.beam_vibration import BeamMode as BeamMode
from pliant.mechanics.closed_form.beam_vibration import EndSignal as EndSignal
from pliant.mechanics.closed_form.beam_vibration import ForcedResponse as ForcedResponse
from pliant.mechanics.closed_form.beam_vibration import forced_response as forced_response
from pliant.mechanics.closed_form.beam_vibration import joint_pd_poles as joint_pd_poles
from pliant.mechanics.closed_form.beam_vibration import modes_below as modes_below
from pliant.mechanics.closed_form.beam_vibration import natural_frequencies as natural_frequencies
from pliant.mechanics.closed_form.beam_vibration import natural_modes as natural_modes
from pliant.mechanics.closed_form.beam_vibration import rigid_motions as rigid_motions
from pliant.mechanics.closed_form.beam_vibration import transfer_function as transfer_function
from pliant.mechanics.closed_form.textbook import Extension as Extension
from pliant.mechanics.closed_form.textbook import Rod as Rod
from pliant.mechanics.closed_form.textbook import RodShape as RodShape
from pliant.mechanics.closed_form.textbook import TwoStationArm as TwoStationArm
from pliant.mechanics.closed_form.textbook import bend_of_45_degrees as bend_of_45_degrees
from pliant.mechanics.closed_form.textbook import elastica_tip as elastica_tip
from pliant.mechanics.closed_form.textbook import (
    euler_bernoulli_cantilever_frequencies as euler_bernoulli_cantilever_frequencies,
)
from pliant.mechanics.closed_form.textbook import euler_bernoulli_cantilever_roots as euler_bernoulli_cantilever_roots
from pliant.mechanics.closed_form.textbook import frequencies as frequencies
from pliant.mechanics.closed_form.textbook import roll_up_tip as roll_up_tip
from pliant.mechanics.closed_form.textbook import shear_deformable_cantilever as shear_deformable_cantilever
from pliant.mechanics.closed_form.textbook import spin_up_angle as spin_up_angle
from pliant.mechanics.closed_form.textbook import spinning_extension as spinning_extension
from pliant.mechanics.closed_form.textbook import static_shape as static_shape
from pliant.mechanics.closed_form.textbook import wave_frequencies as wave_frequencies
from pliant.mechanics.closed_form.timoshenko_beam import CLAMPED as CLAMPED
from pliant.mechanics.closed_form.timoshenko_beam import FREE as FREE
from pliant.mechanics.closed_form.timoshenko_beam import GUIDED as GUIDED
from pliant.mechanics.closed_form.timoshenko_beam import PINNED as PINNED
from pliant.mechanics.closed_form.timoshenko_beam import BeamEnd as BeamEnd
from pliant.mechanics.closed_form.timoshenko_beam import Motion as Motion
from pliant.mechanics.closed_form.timoshenko_beam import TimoshenkoBeam as TimoshenkoBeam
from pliant.mechanics.closed_form.timoshenko_beam import body as body
from pliant.mechanics.closed_form.timoshenko_beam import hub as hub
