"""Static equilibrium by Newton's method under loads that grow in steps.

Unknown are small body displacements chi of the nodes; the strains follow them, d_e = B(e) chi, and the poses are
rebuilt from the strains. The residual is that of the dynamics at rest, its tangent that of a step without mass, plus
the turning of sections under what keeps its direction in the world: d(R^T f) = R^T f x chi_w.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pliant.jit import kernel
from pliant.mechanics.block_elimination import eliminate_joints, new_increments
from pliant.mechanics.block_solve import solve_tree
from pliant.model.contract import Equilibrium
from pliant.model.inputs import Inputs
from pliant.structures.collocation.chain import Drives, Floats, new_stages, new_state
from pliant.structures.collocation.element import freeze, strain_rates
from pliant.structures.collocation.factorise import factorise_links, new_frozen, new_spectral_factors
from pliant.structures.collocation.joints import instant_slopes, joints_of
from pliant.structures.collocation.stages import evaluate_stages
from pliant.structures.joint_tables import at_rest, resting_rotors
from pliant.structures.load_stepping import ITERATIONS, raise_load

if TYPE_CHECKING:
    from pliant.structures.collocation.model import GeometricallyExactArm


@kernel
def solve_once(plant, stages, frozen, factors, inc):
    """Displacements and strain changes for residuals in ``inc``; False if singular.

    Blocks of the nodes, joint pivots and poses are already in ``frozen`` and ``factors``.
    """
    tree, mesh, section = plant.chain.tree, plant.chain.mesh, plant.chain.section
    freeze(section, stages.e, 0, frozen.xi, frozen.stress, frozen.tangent)
    if not factorise_links(plant.chain, frozen, factors, 1.0, 0):
        return False
    if not eliminate_joints(tree, factors, plant.drives.free, frozen.pivot, 0):
        return False
    solve_tree(tree, mesh.start, factors, plant.drives.free, 0, inc)
    strain_rates(mesh, stages.xi, inc.d, 0, inc.rate)
    return True


def find_equilibrium(
    arm: GeometricallyExactArm, start: Floats, inputs: Inputs, time: float, load_steps: int, accuracy: float
) -> Equilibrium:
    """Equilibrium under gravity and the loads of one time, grown from nothing in steps.

    Joints under feedback stiffness or a spring find theirs; all others keep the position they have in ``start``.
    """
    search = _Search(arm, start, inputs, time)
    remedy = "the arm may buckle there; lower the load or take more load steps"
    return raise_load(search, time, load_steps, accuracy, remedy)


class _Search:
    def __init__(self, arm: GeometricallyExactArm, start: Floats, inputs: Inputs, time: float) -> None:
        self.arm, self.chain = arm, arm.chain
        chain, dofs = arm.chain, len(arm.joint_names)
        points, nodes, links = len(chain.section.C), len(chain.inertia.M), len(chain.tree.parent)
        self.now = new_state(nodes, points, dofs)
        self.restore((arm.layout.part(start, "strain"), arm.layout.part(start, "joint_position")))
        plant, now = arm.plant(inputs), np.array([time])
        laws, signals = plant.joints.laws, inputs.joint_signals(now)
        free = ((laws.gain[:, 0] > 0.0) | (laws.spring > 0.0)) & ~laws.prescribed
        self.motor = laws.motor
        quiet, signals[0] = at_rest(laws, signals[0], free)
        stiffness = np.where(laws.has_motor, 0.0, quiet.gain[:, 0])
        self.drives = Drives(~free, free, stiffness, np.zeros(dofs))
        self.plant = plant._replace(drives=self.drives, joints=joints_of(chain.tree, quiet))
        self.table, self.wrenches = signals, inputs.load_signals(now)
        self.stages = new_stages(1, links, nodes, points, dofs, chain.inertia.at_points)
        self.frozen = new_frozen(chain, 1, np.float64)
        self.factors = new_spectral_factors(chain, 1, np.float64)
        self.inc = new_increments(nodes, points, dofs, np.float64)

    def iterate(self, fraction: float, accuracy: float) -> tuple[bool, int]:
        previous = np.inf
        for count in range(1, ITERATIONS + 1):
            size = self.improve(fraction) * max(self.arm.reach, 1.0)
            if not np.isfinite(size):
                return False, count
            if size <= accuracy or (size < 1e-10 and size >= 0.5 * previous):
                return True, count
            previous = size
        return False, ITERATIONS

    def improve(self, fraction: float) -> float:
        """Improve strains and free joint positions once; returns the largest change, not finite if there is none."""
        from pliant.structures.collocation.equations import AT_AN_INSTANT, turned_wrenches

        now, stages, frozen, inc, turning = self.now, self.stages, self.frozen, self.inc, slice(3, 6)
        free = self.drives.free
        inertia = self.chain.inertia._replace(gravity=fraction * self.chain.inertia.gravity)
        plant = self.plant._replace(chain=self.chain._replace(inertia=inertia))
        signals, wrenches = self.table * [1.0, 0.0, fraction], fraction * self.wrenches
        signals[0, ~free, 0] = now.q[~free]
        evaluate_stages(plant, AT_AN_INSTANT, now, stages, (signals, wrenches), 1.0)
        turned = turned_wrenches(plant, stages, 0, wrenches[0])
        for blocks, change in zip((frozen.node, frozen.point), turned):
            blocks[:], blocks[:, :, turning] = 0.0, -change
        frozen.pivot[0], self.factors.pose[:] = self.drives.stiffness + self._law_stiffness(signals[0]), stages.pose
        inc.b[:], inc.b_q[:] = stages.rho, stages.rho_q[0]
        if not solve_once(plant, stages, frozen, self.factors, inc):
            return np.inf
        # no section turns by more than about one radian at once
        limit = min(1.0, 1.0 / max(np.abs(inc.d[0, :, turning]).max(), 1e-300))
        now.e[:] += limit * inc.rate[0]
        now.q[free] += limit * inc.d_q[free]
        return float(limit * max(np.abs(inc.rate).max(initial=0.0), np.abs(inc.d_q[free]).max(initial=0.0)))

    def _law_stiffness(self, target: Floats) -> Floats:
        """(dofs,) of springs, stops and motors where they are."""
        stiffness = np.zeros(len(self.now.q))
        for c in self.plant.joints.active:
            slopes = instant_slopes(self.plant.joints.laws, int(c), self.now.q, 0.0 * self.now.q, target[c], (0.0, 0.0))
            stiffness[c] = -slopes[0, 0] - self.drives.stiffness[c]
        return stiffness

    def copy(self) -> tuple[Floats, Floats]:
        return self.now.e.copy(), self.now.q.copy()

    def restore(self, saved: tuple[Floats, Floats]) -> None:
        self.now.e[:], self.now.q[:] = saved

    def state(self) -> Floats:
        state = self.arm.moving_state(self.now.e, self.now.q, np.zeros(len(self.now.q)))
        if self.arm.geared:
            laws = self.plant.joints.laws
            self.arm.layout.part(state, "rotor")[:] = resting_rotors(laws, self.table[0], self.motor, self.now.q)
        return state
