"""``python -m pliant.experiments.bond_graph_images FOLDER``: the pictures of the pages on bond graphs."""

from __future__ import annotations

import sys
from pathlib import Path

import pliant as pl
from pliant.experiments.wang2017.bond_graph import rig_graph

bg = pl.bond_graph
IN_A_LINK = ("Manipulator", "upper_arm", "Super Element 1")


def pictures() -> dict[str, bg.Drawing]:
    """Every picture by the name of its file."""
    robot = pl.load(pl.library.path("anthropomorphic_three_link"))
    law = pl.JointPD(pl.motions.Hold(0.3), stiffness=1000.0, damping=1000.0)
    arm = bg.of(pl.connect(pl.Corotational(10).compile(robot), law))
    two_links = bg.of(pl.load(pl.library.path("two_link_planar")), bg.MixedElements(20))
    return {
        "arm_words": bg.draw(arm),
        "arm_manipulator": bg.draw(arm, 2),
        "arm_joint": bg.draw(arm, 2, at=("Manipulator", "elbow")),
        "arm_beam": bg.draw(arm, at=(*IN_A_LINK, "Beam3D 1")),
        "arm_beam_open": bg.draw(arm, 2, at=(*IN_A_LINK, "Beam3D 1")),
        "arm_browse": bg.browse(arm),
        "mixed_element": bg.draw(two_links, at=("Manipulator", "inner", "Super Element 1", "Element 1")),
        "wang2017_rig": bg.draw(rig_graph(), 2),
    }


def main(folder: Path, overwrite: bool = True) -> None:
    """Write all pictures."""
    for name, drawing in pictures().items():
        drawing.save(folder / f"bond_graph_{name}.svg", overwrite)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
