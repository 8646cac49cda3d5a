"""Control: laws that decide a torque, or a rate for a servo, and controllers that are called at their own period."""

from pliant.components.discrete_controller import DiscreteCommand as DiscreteCommand
from pliant.components.discrete_controller import DiscreteController as DiscreteController
from pliant.components.discrete_controller import StateSpace as StateSpace
from pliant.components.sampled_controller import SampledCommand as SampledCommand
from pliant.components.sampled_controller import SampledController as SampledController
from pliant.control.joint_pd import JointPD as JointPD
from pliant.control.sampled_laws import PositionLoop as PositionLoop
from pliant.control.sampled_laws import VelocityServo as VelocityServo
from pliant.control.sampled_laws import VibrationSuppression as VibrationSuppression
from pliant.model.sampling import Sample as Sample
