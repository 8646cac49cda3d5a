"""Symbol, unit and meaning of everything a trajectory offers; files, tables and figures read them here."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Observable:
    """One measured number: how it is written on an axis, in what unit, and what it means."""

    symbol: str
    unit: str
    meaning: str

    @property
    def label(self) -> str:
        """The axis label, such as ``$t$ [s]``; a pure number has no bracket."""
        return self.symbol if self.unit == "1" else f"{self.symbol} [{self.unit}]"

    @property
    def attributes(self) -> dict[str, str]:
        """What a file says about it."""
        return {"units": self.unit, "long_name": self.meaning}


TIME = Observable("$t$", "s", "time")
STATION = Observable("$s$", "m", "distance from the root along the undeformed axis")

AXES = ("x", "y", "z")
POSITION = {axis: Observable(f"${axis}$", "m", f"world coordinate {axis}") for axis in AXES}
DEFLECTION = {
    axis: Observable(rf"$\Delta {axis}$", "m", f"deflection from the undeformed arm along world axis {axis}")
    for axis in AXES
}
STRESS = Observable("largest surface stress", "Pa", "largest absolute axial stress on the outline of a section")
QUATERNION = {
    part: Observable(f"$q_{part}$", "1", f"component {part} of the unit quaternion from tip frame to world")
    for part in ("w", *AXES)
}
TWIST = {
    **{f"v_{a}": Observable(f"$v_{a}$", "m/s", f"tip velocity along its own {a} axis") for a in AXES},
    **{f"w_{a}": Observable(rf"$\omega_{a}$", "rad/s", f"tip rate about its own {a} axis") for a in AXES},
}
STRAIN = {
    "gamma_x": Observable(r"$\gamma_x$", "1", "extension"),
    "gamma_y": Observable(r"$\gamma_y$", "1", "shear along y"),
    "gamma_z": Observable(r"$\gamma_z$", "1", "shear along z"),
    "kappa_x": Observable(r"$\kappa_x$", "1/m", "twist per length"),
    "kappa_y": Observable(r"$\kappa_y$", "1/m", "bending curvature about y"),
    "kappa_z": Observable(r"$\kappa_z$", "1/m", "bending curvature about z"),
}
WRENCH = {
    "N_x": Observable("$N_x$", "N", "axial force"),
    "N_y": Observable("$N_y$", "N", "shear force along y"),
    "N_z": Observable("$N_z$", "N", "shear force along z"),
    "M_x": Observable("$M_x$", "N m", "torsional moment"),
    "M_y": Observable("$M_y$", "N m", "bending moment about y"),
    "M_z": Observable("$M_z$", "N m", "bending moment about z"),
}

ENERGY_UNIT = "J"
ENERGY = Observable("energy", ENERGY_UNIT, "energy")
_MEANINGS = {
    "kinetic": "kinetic energy",
    "strain": "elastic energy",
    "gravity": "work of gravity since the start",
    "material_loss": "dissipated inside the material since the start",
    "viscous_loss": "dissipated by the surroundings since the start",
    "joint_loss": "dissipated by joint damping since the start",
    "projection_loss": "taken by returning moving joints to equal velocity since the start",
    "numerical_loss": "dissipated by the integrator itself since the start",
    "residual": "energy that the ledger does not explain since the start",
    "exchanged": "sum of the absolute energy flows since the start",
}
ENERGIES = {name: Observable(name.replace("_", " "), ENERGY_UNIT, words) for name, words in _MEANINGS.items()}

CONSISTENCY_TWIST = Observable(
    "tip velocity consistency error", "m/s", "tip velocity of the strain rates against the state"
)
CONSISTENCY_GRAVITY = Observable(
    "potential energy consistency error",
    ENERGY_UNIT,
    "potential energy of the shape against the entered work of gravity",
)


@dataclass(frozen=True)
class JointUnit:
    """In what unit a joint counts: an angle or a length."""

    position: str

    def coordinate(self, name: str) -> Observable:
        return Observable(name, self.position, f"position of joint {name}")

    def rate(self, name: str) -> Observable:
        return Observable(name, f"{self.position}/s", f"rate of joint {name}")

    def effort(self, name: str) -> Observable:
        """The torque or force of a joint, by the word for it."""
        word, unit = ("force", "N") if self.position == "m" else ("torque", "N m")
        return Observable(word, unit, f"{word} of joint {name}")


# units of what trajectories report as violations of constraints
VIOLATIONS = {"joint offset": "m", "joint misalignment": "rad", "loops": "m", "directors": "1"}
