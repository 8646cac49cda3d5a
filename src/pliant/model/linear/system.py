"""Linear systems in plain state space: E x' = A x + B u, y = C x + D u."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pliant.errors import InvalidInput
from pliant.model.layout import Array
from pliant.model.linear.explicit_form import without_algebraic_states
from pliant.model.linear.matrices import (
    SINGULAR,
    Complex,
    absent,
    checked,
    checked_names,
    count_of,
    is_identity,
    numbered,
    position,
    reciprocal_condition,
)
from pliant.model.linear.transfer import TriangularForm, of_pencil, of_standard
from pliant.model.linear.zeros import transmission_zeros

KIND = "linear system"


@dataclass(frozen=True, eq=False, kw_only=True)
class LinearSystem:
    """E x' = A x + B u, y = C x + D u, with named inputs, outputs and states.

    ``E`` is the identity and ``D`` zero unless given; a singular ``E`` holds constraints. The arrays are copied and
    read-only.
    """

    A: Array
    B: Array
    C: Array
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    states: tuple[str, ...] = ()
    E: Array = field(default_factory=absent)
    D: Array = field(default_factory=absent)

    def __post_init__(self) -> None:
        n, m, p = count_of(KIND, "A", self.A), len(self.inputs), len(self.outputs)
        shapes = {
            "A": ((n, n), f"{n} states"),
            "B": ((n, m), f"{n} states and {m} inputs"),
            "C": ((p, n), f"{p} outputs and {n} states"),
            "E": ((n, n), f"{n} states"),
            "D": ((p, m), f"{p} outputs and {m} inputs"),
        }
        given: dict[str, ArrayLike] = {name: getattr(self, name) for name in shapes}
        if not np.size(self.E):
            given["E"] = np.eye(n)
        if not np.size(self.D):
            given["D"] = np.zeros((p, m))
        for name, (shape, meaning) in shapes.items():
            object.__setattr__(self, name, checked(KIND, name, given[name], shape, meaning))
        object.__setattr__(self, "inputs", checked_names(KIND, "input", self.inputs, m))
        object.__setattr__(self, "outputs", checked_names(KIND, "output", self.outputs, p))
        states = self.states or numbered("x", n)
        object.__setattr__(self, "states", checked_names(KIND, "state", states, n))

    def matrices(self) -> tuple[Array, Array, Array, Array, Array]:
        """Copies of E, A, B, C, D that may be written to."""
        return self.E.copy(), self.A.copy(), self.B.copy(), self.C.copy(), self.D.copy()

    @cached_property
    def poles(self) -> Complex:
        """The finite poles in 1/s, in the order of rising magnitude."""
        values = np.linalg.eigvals(self.explicit.A).astype(complex)
        return values[np.argsort(np.abs(values), kind="stable")]

    @cached_property
    def zeros(self) -> Complex:
        """The finite transmission zeros in 1/s, in the order of rising magnitude."""
        plain = self.explicit
        return transmission_zeros(plain.A, plain.B, plain.C, plain.D)

    def transfer(self, s: ArrayLike) -> Complex:
        """The transfer matrix C (s E - A)^-1 B + D at complex frequencies: shape of ``s``, then (outputs, inputs).

        ``s`` is in 1/s, 2 pi j times a frequency in hertz. Entries are not finite where ``s`` is a pole.
        """
        at = np.asarray(s, complex)
        return self._triangular.at(at.ravel()).reshape(*at.shape, *self.D.shape)

    def between(self, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> LinearSystem:
        """The same states seen through some of the inputs and outputs, in the given order."""
        columns = [position(KIND, "input", name, self.inputs) for name in inputs]
        rows = [position(KIND, "output", name, self.outputs) for name in outputs]
        return LinearSystem(
            E=self.E,
            A=self.A,
            B=self.B[:, columns],
            C=self.C[rows],
            D=self.D[np.ix_(rows, columns)],
            inputs=tuple(inputs),
            outputs=tuple(outputs),
            states=self.states,
        )

    @cached_property
    def explicit(self) -> LinearSystem:
        """The same behaviour with E = I: algebraic states are solved for and constraints eliminated."""
        if is_identity(self.E):
            return self
        if self._has_regular_mass:
            solved = np.asarray(np.linalg.solve(self.E, np.hstack([self.A, self.B])), float)
            A, B, C, D, states = (
                solved[:, : len(self.A)],
                solved[:, len(self.A) :],
                self.C,
                self.D,
                self.states,
            )
        else:
            A, B, C, D = without_algebraic_states(self.E, self.A, self.B, self.C, self.D)
            states = numbered("z", len(A))
        return LinearSystem(A=A, B=B, C=C, D=D, inputs=self.inputs, outputs=self.outputs, states=states)

    def to_control(self) -> Any:
        """The system as a ``control.StateSpace`` of python-control, with the same names.

        Points in names, which python-control keeps for itself, become underscores.
        """
        try:
            import control
        except ImportError:
            raise InvalidInput(
                "to_control() needs python-control, which is not installed; install the extra 'control':"
                " pip install 'pliant[control]'"
            ) from None
        plain = self.explicit
        names = {
            kind: [name.replace(".", "_") for name in getattr(plain, kind)]
            for kind in ("inputs", "outputs", "states")
        }
        return control.StateSpace(plain.A, plain.B, plain.C, plain.D, remove_useless_states=False, **names)

    @cached_property
    def _has_regular_mass(self) -> bool:
        return is_identity(self.E) or reciprocal_condition(self.E) > SINGULAR

    @cached_property
    def _triangular(self) -> TriangularForm:
        if self._has_regular_mass:
            plain = self.explicit
            return of_standard(plain.A, plain.B, plain.C, plain.D)
        return of_pencil(self.E, self.A, self.B, self.C, self.D)
