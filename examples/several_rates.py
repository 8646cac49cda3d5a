"""Three rates as in konno1996: the arm steps by 0.1 ms, servos act every 1 ms, the controller every 10 ms."""

import numpy as np

import pliant as pl

TURN = 0.3  # rad
steel = pl.Material(name="steel", young=210e9, density=7850.0, poisson=0.3, damping=2e-5)
strip = pl.FlexibleLink("strip", 0.6, section=pl.Rectangle(height=0.004, width=0.03), material=steel)
motor = pl.RevoluteJoint("motor", "base", "strip")
# a sampled servo needs inertia to act on: its gain at the joint times its period must stay well below it
rotor = pl.Payload("rotor", "strip", at=pl.End.ROOT, mass=0.0, inertia=(0.05, 0.05, 0.1))
body = pl.Payload("body", "strip", at=pl.End.TIP, mass=0.5, inertia=(1e-4, 1e-4, 1e-4))
robot = pl.Robot(name="strip_on_a_servo", links=(strip,), joints=(motor,), payloads=(rotor, body))
arm = pl.GeometricallyExact(degree=4).compile(robot)

# a gear of 50, the servo of the paper, tau = G_r K_sp (V_ref - K_sv motor rate), and a converter of 12 bits
servo = pl.control.VelocityServo(
    gain=0.24, sensor_gain=0.1, ratio=50.0, period=1e-3, command_limit=10.0, command_resolution=20.0 / 4096
)
encoder = pl.sensors.Encoder(resolution=2 * np.pi / 20000)
loop = pl.control.PositionLoop(pl.motions.Hold(TURN), gain=4.0, period=10e-3, encoder=encoder, delay=1e-3)
gauge = pl.sensors.StrainGauge("strip", resolution=1e-5, noise=2e-5)
damper = pl.control.VibrationSuppression("motor", gauge, gain=1.5, period=10e-3, delay=1e-3, seed=1)

swings = {}
for title, parts in {"position loop alone": (servo, loop), "with suppression": (servo, loop, damper)}.items():
    run = pl.simulate(pl.connect(arm, *parts), until=2.0, integrator=pl.Gauss(order=4, step=1e-4))
    late = run.time > 1.0
    swings[title] = np.ptp(run.tip_deflection[late, 1])
    work, closes = run.ledger.works["motor"][-1], run.ledger.worst_ratio
    print(f"{title}: {run.ending}, joint at {run.joint_position[-1, 0]:.4f} rad of {TURN} rad")
    print(
        f"  tip swings by {1e3 * swings[title]:.3f} mm after 1 s; servo gave {work:.4f} J, ledger off by {closes:.0e}"
    )
