"""Control: laws that decide a torque, or a rate for a servo, and controllers that are called at their own period."""

from pliant.components.sampled_controller import SampledCommand as SampledCommand
from pliant.components.sampled_controller import SampledController as SampledController
from pliant.control.laws import JointPD as JointPD
from pliant.control.laws import PositionLoop as PositionLoop
from pliant.control.laws import VelocityServo as VelocityServo
from pliant.control.laws import VibrationSuppression as VibrationSuppression
from pliant.model.sampling import Sample as Sample
