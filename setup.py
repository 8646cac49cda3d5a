"""Wheels carry the machine code of their kernels; PLIANT_WITHOUT_KERNELS=1 leaves it out."""

import os
import subprocess
import sys
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

SHIPPED = not os.environ.get("PLIANT_WITHOUT_KERNELS")


class BuildWithKernels(build_py):
    def run(self) -> None:
        super().run()
        if SHIPPED and not self.editable_mode:
            built = Path(self.build_lib).resolve()
            environment = {**os.environ, "PYTHONPATH": str(built)}
            command = [sys.executable, "-m", "pliant.jit", str(built / "pliant" / "jit" / "shipped")]
            subprocess.run(command, env=environment, cwd=built, check=True)


class PackageOfMachineCode(Distribution):
    def has_ext_modules(self) -> bool:
        return SHIPPED


class WheelOfMachineCode(bdist_wheel):
    """For one platform, and any Python 3."""

    def get_tag(self) -> tuple[str, str, str]:
        python, abi, platform = super().get_tag()
        return ("py3", "none", platform) if SHIPPED else (python, abi, platform)


setup(distclass=PackageOfMachineCode, cmdclass={"build_py": BuildWithKernels, "bdist_wheel": WheelOfMachineCode})
