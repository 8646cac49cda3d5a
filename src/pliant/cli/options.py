"""Arguments and options that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

RobotArgument = Annotated[
    str, typer.Argument(metavar="ROBOT", help="A YAML file, or the name of a library arm.")
]
StateOption = Annotated[
    str, typer.Option(help="About which state: equilibrium, start, or the last of a saved trajectory (file).")
]
PDOption = Annotated[
    list[str] | None,
    typer.Option(metavar="JOINT=KP,KD,TARGET", help="Control a joint [N m/rad, N m s/rad, rad]."),
]
HoldOption = Annotated[bool, typer.Option("--hold", help="Hold every other joint where it starts.")]
OverwriteOption = Annotated[bool, typer.Option("--overwrite", help="Replace files that exist.")]
