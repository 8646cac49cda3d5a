"""Exact answers of beam and rod theory: what simulations are measured against.

Nothing here knows the formulations or the compiled kernels. ``timoshenko_beam`` has waves of uniform Timoshenko beams
between any ends, ``beam_vibration`` their frequencies, mode shapes, transfer functions and poles under joint PD,
``rod_statics`` the static shape of a Simo-Reissner rod by shooting.
"""

from pliant.experiments.closed_form.beam_vibration import BeamMode as BeamMode
from pliant.experiments.closed_form.beam_vibration import EndSignal as EndSignal
from pliant.experiments.closed_form.beam_vibration import ForcedResponse as ForcedResponse
from pliant.experiments.closed_form.beam_vibration import forced_response as forced_response
from pliant.experiments.closed_form.beam_vibration import joint_pd_poles as joint_pd_poles
from pliant.experiments.closed_form.beam_vibration import modes_below as modes_below
from pliant.experiments.closed_form.beam_vibration import natural_frequencies as natural_frequencies
from pliant.experiments.closed_form.beam_vibration import natural_modes as natural_modes
from pliant.experiments.closed_form.beam_vibration import rigid_motions as rigid_motions
from pliant.experiments.closed_form.beam_vibration import transfer_function as transfer_function
from pliant.experiments.closed_form.rod_statics import Rod as Rod
from pliant.experiments.closed_form.rod_statics import RodShape as RodShape
from pliant.experiments.closed_form.rod_statics import static_shape as static_shape
from pliant.experiments.closed_form.timoshenko_beam import CLAMPED as CLAMPED
from pliant.experiments.closed_form.timoshenko_beam import FREE as FREE
from pliant.experiments.closed_form.timoshenko_beam import GUIDED as GUIDED
from pliant.experiments.closed_form.timoshenko_beam import PINNED as PINNED
from pliant.experiments.closed_form.timoshenko_beam import BeamEnd as BeamEnd
from pliant.experiments.closed_form.timoshenko_beam import Motion as Motion
from pliant.experiments.closed_form.timoshenko_beam import TimoshenkoBeam as TimoshenkoBeam
from pliant.experiments.closed_form.timoshenko_beam import body as body
from pliant.experiments.closed_form.timoshenko_beam import hub as hub
