"""One test over many cases that lists every case that fails, where an item for each would say no more."""

from __future__ import annotations

from collections.abc import Callable, Iterable


def over(*cases: Iterable[object]) -> Callable[[Callable[..., None]], Callable[[], None]]:
    """Call the test with the arguments of every case; for tests that need no fixture."""

    def mark(test: Callable[..., None]) -> Callable[[], None]:
        def all_cases() -> None:
            failed = []
            for case in cases:
                arguments = tuple(case)
                try:
                    test(*arguments)
                except AssertionError as fault:
                    failed.append(f"{arguments}: {fault}")
            assert not failed, f"{len(failed)} of {len(cases)} cases:\n" + "\n".join(failed)

        assert cases, f"{test.__name__} has no cases"
        all_cases.__name__ = test.__name__
        all_cases.__doc__ = test.__doc__
        return all_cases

    return mark
