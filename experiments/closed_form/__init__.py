"""Exact answers of beam and rod theory: what simulations are measured against.

Nothing here imports pliant, which must not import this. ``beam_vibration`` has frequencies, mode shapes and transfer
functions of uniform Timoshenko beams between any ends of ``timoshenko_beam``, and poles under joint PD. ``textbook``
has formulas of textbooks, the elastica and others, the static shape of a Simo-Reissner rod by shooting, and the
vibrations of two massless beams that carry two masses.
"""

from experiments.closed_form.beam_vibration import BeamMode as BeamMode
from experiments.closed_form.beam_vibration import EndSignal as EndSignal
from experiments.closed_form.beam_vibration import ForcedResponse as ForcedResponse
from experiments.closed_form.beam_vibration import forced_response as forced_response
from experiments.closed_form.beam_vibration import joint_pd_poles as joint_pd_poles
from experiments.closed_form.beam_vibration import modes_below as modes_below
from experiments.closed_form.beam_vibration import natural_frequencies as natural_frequencies
from experiments.closed_form.beam_vibration import natural_modes as natural_modes
from experiments.closed_form.beam_vibration import rigid_motions as rigid_motions
from experiments.closed_form.beam_vibration import transfer_function as transfer_function
from experiments.closed_form.textbook import Extension as Extension
from experiments.closed_form.textbook import Rod as Rod
from experiments.closed_form.textbook import RodShape as RodShape
from experiments.closed_form.textbook import TwoStationArm as TwoStationArm
from experiments.closed_form.textbook import bend_of_45_degrees as bend_of_45_degrees
from experiments.closed_form.textbook import elastica_tip as elastica_tip
from experiments.closed_form.textbook import (
    euler_bernoulli_cantilever_frequencies as euler_bernoulli_cantilever_frequencies,
)
from experiments.closed_form.textbook import euler_bernoulli_cantilever_roots as euler_bernoulli_cantilever_roots
from experiments.closed_form.textbook import frequencies as frequencies
from experiments.closed_form.textbook import roll_up_tip as roll_up_tip
from experiments.closed_form.textbook import shear_deformable_cantilever as shear_deformable_cantilever
from experiments.closed_form.textbook import spin_up_angle as spin_up_angle
from experiments.closed_form.textbook import spinning_extension as spinning_extension
from experiments.closed_form.textbook import static_shape as static_shape
from experiments.closed_form.textbook import wave_frequencies as wave_frequencies
from experiments.closed_form.timoshenko_beam import CLAMPED as CLAMPED
from experiments.closed_form.timoshenko_beam import FREE as FREE
from experiments.closed_form.timoshenko_beam import GUIDED as GUIDED
from experiments.closed_form.timoshenko_beam import PINNED as PINNED
from experiments.closed_form.timoshenko_beam import BeamEnd as BeamEnd
from experiments.closed_form.timoshenko_beam import Motion as Motion
from experiments.closed_form.timoshenko_beam import TimoshenkoBeam as TimoshenkoBeam
from experiments.closed_form.timoshenko_beam import body as body
from experiments.closed_form.timoshenko_beam import hub as hub
