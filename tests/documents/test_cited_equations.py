"""Theory pages name the equations of the papers that the code cites."""

from __future__ import annotations

import pytest

from tests.architecture.tree import ROOT, text
from tests.documents.cited_equations import PAGES, TABLE, citations, renew


@pytest.mark.parametrize(("key", "name"), PAGES.items())
def test_the_table_of_equations_is_up_to_date(key: str, name: str) -> None:
    page = text(ROOT / "docs" / name)
    assert [match[1] for match in TABLE.finditer(page)] == [key]
    assert renew(page) == page, "run: python -m tests.documents.cited_equations"


def test_citations_are_found() -> None:
    """So that the tables cannot be empty: two places that are known."""
    assert "(18)" in citations()["macchelli2007"][ROOT / "src/pliant/structures/collocation/element.py"]
    assert "(14)-(18)" in citations()["damic2006"][ROOT / "src/pliant/structures/nodal/coupling.py"]
