"""Tune a mass damper to the first mode of a clamped steel strip by Den Hartog's rule and pluck the strip."""

import numpy as np

import pliant as pl

PART = 0.05  # of the mass of the mode
ACROSS, PUSH = (0.0, 1.0, 0.0), (0.0, 2.0, 0.0, 0.0, 0.0, 0.0)

steel = pl.Material(name="steel", young=210e9, density=7850.0, poisson=0.3)
strip = pl.FlexibleLink(name="strip", length=0.6, section=pl.Rectangle(height=0.003, width=0.03), material=steel)
clamp = pl.joints.FixedJoint(name="clamp", parent="base", child="strip")
arm = pl.PoseElement(elements=16).compile(pl.Robot(name="strip", links=(strip,), joints=(clamp,)))

# seen from its tip, the first mode of a clamped beam is a quarter of its mass on a spring
omega = 2 * np.pi * pl.modes(arm, count=1).frequency[0]
mode = 0.25 * 7850.0 * 0.003 * 0.03 * 0.6
mass, tuned = PART * mode, omega / (1 + PART)
damping = 2 * mass * omega * np.sqrt(3 * PART / (8 * (1 + PART) ** 3))
damper = pl.TunedMassDamper("damper", pl.At("strip"), mass, mass * tuned**2, damping, axis=ACROSS)
damped = pl.connect(arm, damper)
print(pl.report(damped))

frequencies = np.linspace(0.7, 1.3, 601) * omega / (2 * np.pi)
answer = pl.frequency_response(damped, "strip.tip.wrench[1]", "tip.displacement[1]", frequencies)
peak = answer.magnitude.max() * mode * omega**2
print(f"highest peak {peak:.2f} of the static sag; Den Hartog's is {np.sqrt(1 + 2 / PART):.2f}")

left = {}
for name, model in {"without": arm, "with": damped}.items():
    bent = pl.equilibrium(pl.connect(model, pl.TipWrench("strip", pl.signals.Constant(PUSH))))
    run = pl.simulate(model, until=1.5, integrator=pl.Gauss(order=2, step=5e-4), initial=bent.state, outputs=3000)
    sway = np.abs(run.tip_position[:, 1])
    left[name] = sway[-300:].max() / sway[0]
    print(f"{name} the damper {100 * left[name]:.1f} % of the sway is left after 1.5 s")
