"""The program ``pliant``: its commands, its version and how it reports errors."""

from __future__ import annotations

import sys
import warnings
from importlib.util import LazyLoader, find_spec, module_from_spec
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from pliant import __version__
from pliant.cli.compare import compare
from pliant.cli.demo import demo
from pliant.cli.describe import describe
from pliant.cli.frequency import frequency
from pliant.cli.live import live
from pliant.cli.modes import modes
from pliant.cli.reproduce import reproduce
from pliant.cli.simulate import simulate
from pliant.cli.view import view
from pliant.errors import InvalidInput, PliantWarning

INVALID_INPUT = 2


def _postpone(name: str, parent: str) -> None:
    """Have a module of a package run when it is first used."""
    if f"{parent}.{name}" in sys.modules:
        return
    spec = find_spec(f"{parent}.{name}")
    if spec is not None and spec.loader is not None:
        spec.loader = LazyLoader(spec.loader)
        module = sys.modules[spec.name] = module_from_spec(spec)
        spec.loader.exec_module(module)
        setattr(sys.modules[parent], name, module)


class Commands(TyperGroup):
    """Commands that answer wrong input with its sentences instead of a traceback."""

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """The arms that serve in place of a file; read only when help is asked for."""
        from pliant.library import names

        with formatter.section("Library arms"):
            formatter.write_text(", ".join(names()))
            formatter.write_text("A name serves wherever a command asks for ROBOT: pliant simulate two_link_planar")

    def invoke(self, ctx: Any) -> Any:
        usual, told = warnings.showwarning, set()

        def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
            """A sentence on the error output, once; anything else as ever."""
            if not issubclass(category, PliantWarning):
                usual(message, category, *place, **more)
            elif str(message) not in told:
                told.add(str(message))
                typer.echo(f"warning: {message}", err=True)

        warnings.showwarning = show
        _postpone("f2py", "numpy")  # scipy touches every name of numpy: a tenth of the time of a short command
        try:
            return super().invoke(ctx)
        except InvalidInput as error:
            typer.echo(str(error), err=True)
        except MemoryError:
            remedy = "take fewer elements, a lower degree, longer steps or fewer outputs"
            typer.echo(f"this computer has too little memory; {remedy}", err=True)
        except OSError as error:
            place = f"{error.filename}: " if error.filename else ""
            typer.echo(f"{place}{error.strerror or error}; check the path and its permissions", err=True)
        finally:
            warnings.showwarning = usual
        raise typer.Exit(INVALID_INPUT)


app = typer.Typer(
    cls=Commands,
    help="Flexible robot arms, described once and simulated with several published formulations.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
    no_args_is_help=True,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"pliant {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


for command in (describe, simulate, compare, view, live, modes, frequency, reproduce, demo):
    app.command()(command)
