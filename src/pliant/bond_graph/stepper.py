"""Steps of a bond graph: what the compiled loop needs, and what it keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pliant.bond_graph.diagnosis import why_singular
from pliant.bond_graph.step import LOST, Output, Tables, Work, run_steps
from pliant.errors import InvalidInput
from pliant.formulas.sparse import make_plan, new_factors
from pliant.formulas.tape import Values
from pliant.model.contract import Kept, Run, with_held
from pliant.model.state import Array, Cause, Ending
from pliant.structures.energy_ledger import COLUMNS, KINETIC, STRAIN, new_ledger
from pliant.structures.ledger import ledger_of
from pliant.structures.memory import Memory, numbers_of, refill
from pliant.structures.stepping import NOT_FINITE

if TYPE_CHECKING:
    from pliant.bond_graph.model import BondGraph


class Stepper:
    """State, scratch and rows of a run."""

    def __init__(self, model: BondGraph, run: Run) -> None:
        if run.method.stages != 1 or not run.method.exact:
            raise InvalidInput("bond graphs step by the midpoint rule, which keeps energy; use Gauss(order=2)")
        self.model, self.run = model, run
        own = model.compiled
        rows, n = len(run.schedule.tau) + 1, own.step.size
        self.program, self.plan = own.program, own.plan
        self.pivoted = np.zeros(0)  # derivatives by which pivots were chosen anew
        x, z = run.start.copy(), own.guess.copy()
        values = own.step.values()
        scratch = np.zeros(max(own.step.longest, own.longest))
        asked = run.newton_tolerance
        self.work = Work(
            own.step.point(x, z, np.zeros(own.equations.inputs), 0.0, 0.0),
            Values(values.F, values.J, scratch, np.zeros_like(scratch)),
            new_factors(self.plan),
            np.zeros(n),
            np.zeros(n),
            np.zeros(len(x)),
            np.zeros(1),
            np.zeros(2, np.int64),
            np.array([asked.displacement, float(asked.max_iterations)]),
        )
        sources = own.equations.sources
        self.ledger = new_ledger(len(sources), 0)
        self.ledger.sums[[KINETIC, STRAIN]] = np.concatenate(model.energy(x[None])[:2])
        numbers = (len(x), COLUMNS, len(sources), len(own.program.efforts))
        self.output = Output(*[np.zeros((rows, count)) for count in numbers])

    def start(self) -> Ending | None:
        self.keep(0)
        return None

    def times(self, a: int, b: int) -> Array:
        grid = self.run.grid
        return np.stack([grid[a:b], 0.5 * (grid[a:b] + grid[a + 1 : b + 1]), grid[a + 1 : b + 1]], axis=1)

    def tables(self, a: int, b: int, joints: Array, loads: Array) -> Tables:
        plan = self.run.schedule
        starts, h = self.run.grid[a:b].copy(), plan.h[a:b].copy()
        return Tables(starts, h, plan.first[a:b].copy(), plan.stop[a:b].copy(), plan.tau, joints)

    def advance(self, tables: Tables, part: slice, held: Array) -> tuple[int, int]:
        with_held(tables.u[part], held)
        rows = tables._replace(u=np.ascontiguousarray(tables.u[..., 2]))
        first, done, planned = part.start, 0, -1
        while True:
            span = (first + done, part.stop)
            count, status = run_steps(self.program, self.plan, self.work, rows, self.ledger, self.output, span)
            done += count
            if status != LOST or done == planned:
                return done, status
            planned = done
            if not self.pivot(self.work.values.J.copy()):  # others than those that were lost
                return done, status

    def pivot(self, J: Array) -> bool:
        """Choose pivots by the derivatives of a step; False where there are none."""
        own = self.model.compiled.step
        found = make_plan(own.begin, own.columns, J)
        if found is None:
            return False
        self.pivoted, self.plan, self.work = J, found, self.work._replace(factors=new_factors(found))
        return True

    def memory(self) -> Memory:
        return (*numbers_of((self.work, self.ledger)), self.pivoted)

    def recall(self, memory: Memory) -> None:
        *numbers, pivoted = memory
        if pivoted.shape == self.work.values.J.shape:  # chosen anew: indices from a file could lead anywhere
            self.pivot(pivoted.copy())
        refill(numbers_of((self.work, self.ledger)), tuple(numbers))

    def state_vector(self) -> Array:
        return self.work.point.x.copy()

    def keep(self, row: int) -> None:
        out = self.output
        out.states[row], out.sums[row], out.works[row] = self.work.point.x, self.ledger.sums, self.ledger.joints
        out.efforts[row] = self.work.point.z[self.program.efforts]

    def stopped(self, status: int, done: int) -> Ending:
        time, own = float(self.run.grid[done]), self.model.compiled
        if status == LOST:
            place, _, remedy = why_singular(own.step, own.equations, self.work.values.J).partition("; ")
            return Ending(Cause.SINGULAR, time, place, remedy)
        place = own.equations.unknowns[int(np.argmax(np.abs(self.work.change) / self.plan.size))]
        if status == NOT_FINITE:
            return Ending(Cause.NOT_FINITE, time, place, "a law grows without bound or leaves its range; check it")
        return Ending(Cause.NOT_CONVERGED, time, place, "take shorter steps, or smooth the laws and signals there")

    def kept(self, times: Array) -> Kept:
        n, own = len(times), self.model.compiled.equations.sources
        out, names = self.output, [source.name for source in own]
        if n > 1:
            out.efforts[0] = out.efforts[1]
        ends = np.cumsum([len(source.efforts) for source in own])
        efforts = dict(zip(names, np.split(out.efforts[:n], ends, axis=1)))
        works = dict(zip(names, out.works[:n].T, strict=True))
        ledger = ledger_of(out.sums[:n], works, self.ledger.worst, exact=True)
        counts = dict(zip(("iterations", "factorisations"), map(float, self.work.counts)))
        return Kept(out.states[:n], efforts, ledger, counts)
