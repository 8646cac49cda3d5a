"""Why equations cannot be solved, in words of the graph."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pliant.bond_graph.equations import Equations
from pliant.errors import InvalidInput
from pliant.formulas.sparse import null_spaces, sized
from pliant.formulas.system import System
from pliant.formulas.tape import Floats

MOST_NAMED = 4
LARGE = 1000  # unknowns
DIGITS = 6  # of entries of null spaces; what lies beyond is round-off
REMEDY = (
    "remove one of them, or put an element between them that lets them differ, such as a C, an I or an R with a small"
    " loss"
)
FREE_REMEDY = "remove a bond or a junction that closes a loop, or add an element that decides it"


def refuse_undetermined(system: System, equations: Equations) -> None:
    """Refuse equations that decide something twice or not at all, whatever their numbers are."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    rows, n = len(system.begin) - 1, system.size
    pattern = csr_array((np.ones(len(system.columns), np.int8), system.columns, system.begin), shape=(rows, n))
    column_of = maximum_bipartite_matching(pattern, perm_type="column")
    open_rows = np.flatnonzero(column_of < 0)
    if len(open_rows):
        owners = [equations.rows[r].owner for r in _reached(system, column_of, int(open_rows[0]))]
        fault = "decide the same thing" if len(set(owners)) > 1 else "has no variable left to decide"
        raise InvalidInput(f"over-determined: {_named(owners)} {fault}; {REMEDY}")
    if rows < n:
        free = [equations.unknowns[k] for k in np.setdiff1d(np.arange(n), column_of)]
        raise InvalidInput(f"under-determined: nothing decides {_named(free)}; {FREE_REMEDY}")


def _reached(system: System, column_of: Floats, row: int) -> list[int]:
    """The rows that compete with a row for its unknowns."""
    row_of = {int(c): r for r, c in enumerate(column_of) if c >= 0}
    seen = [row]
    for r in seen:  # it grows meanwhile
        others = {row_of[c] for c in system.columns[system.begin[r] : system.begin[r + 1]].tolist()}
        seen += others.difference(seen)
    return sorted(seen)


def why_singular(system: System, equations: Equations, J: Floats) -> str:
    """Which equations depend on each other, and what they leave open, where numbers make a matrix singular."""
    from scipy.sparse import csr_array

    if not np.isfinite(J).all():
        bad = sorted({equations.rows[r].owner for r in system.rows_of_slots()[~np.isfinite(J)].tolist()})
        return f"a formula or its derivative is no number in {_named(bad)}; start elsewhere, or write it smoothly"
    matrix, _, _ = sized(csr_array((J, system.columns, system.begin), shape=(system.size, system.size)))
    left, right = null_spaces(matrix if system.size > LARGE else matrix.toarray(), 1)
    owners = [equations.rows[k].owner for k in _largest(left)]
    free = [equations.unknowns[k] for k in _largest(right)]
    return f"over-determined: {_named(owners)} depend on each other and leave open {_named(free)}; {REMEDY}"


def _largest(space: Floats) -> list[int]:
    """The entries that matter in one vector of a null space, the largest first and equal ones in their order.

    Neither the axes that a solver lays into a space of several dimensions nor its last digits change them: the vector
    is the one nearest to a unit, and entries are compared by six digits.
    """
    near = np.einsum("ij,ij->i", space, space)
    vector = np.abs(space @ space[int(np.argmax(near.round(DIGITS)))])
    sizes = (vector / vector.max()).round(DIGITS)
    return [int(k) for k in np.argsort(-sizes, kind="stable") if sizes[k] > 0.1]


def _named(words: Sequence[str]) -> str:
    some = list(dict.fromkeys(words))
    shown = some[:MOST_NAMED]
    last = f"{len(some) - MOST_NAMED} more" if len(some) > MOST_NAMED else shown.pop()
    return f"{', '.join(shown)} and {last}" if shown else last
