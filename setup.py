"""Wheels carry the machine code of their kernels; PLIANT_WITHOUT_KERNELS=1 leaves it out.

On the page of a package the README stands alone, so its links are written out from the address of the repository: that
of ``Repository`` in ``[project.urls]``, or PLIANT_REPOSITORY. Without either, pictures are left out and links are
plain words, so that nothing is shown broken.
"""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

SHIPPED = not os.environ.get("PLIANT_WITHOUT_KERNELS")


HERE = Path(__file__).parent
FILE = r"(?![a-z]+:|#|/)([^)\"\s]+)"  # beside the README
LINK = re.compile(r"""(\]\(|\b(?:src|href)="|^\[[^]]+\]: )""" + FILE, re.MULTILINE)
PICTURE = re.compile(rf"""!\[[^]]*\]\({FILE}\)\n?|<img\b[^>]*\bsrc="{FILE}"[^>]*>\n?""")
WORDS = re.compile(rf"""\[([^]]+)\]\({FILE}\)|<a\b[^>]*\bhref="{FILE}"[^>]*>(.*?)</a>""")
DEFINITION = re.compile(rf"^\[[^]]+\]: {FILE}\n?", re.MULTILINE)
PICTURES = (".png", ".gif", ".svg", ".jpg")


def repository() -> str:
    """Where the sources are to be seen, or nothing."""
    project = tomllib.loads((HERE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return os.environ.get("PLIANT_REPOSITORY") or project.get("urls", {}).get("Repository", "")


def page_of_package(page: str, address: str) -> str:
    """The page with links to files of the repository written out: pictures as such, all others as pages."""

    def written(link: re.Match[str]) -> str:
        kind = "raw" if link[2].lower().endswith(PICTURES) else "blob"
        return f"{link[1]}{address.rstrip('/')}/{kind}/HEAD/{link[2].removeprefix('./')}"

    if address:
        return LINK.sub(written, page)
    return WORDS.sub(lambda link: link[1] or link[4], DEFINITION.sub("", PICTURE.sub("", page)))


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


if __name__ == "__main__":
    setup(
        long_description=page_of_package((HERE / "README.md").read_text(encoding="utf-8"), repository()),
        long_description_content_type="text/markdown",
        distclass=PackageOfMachineCode,
        cmdclass={"build_py": BuildWithKernels, "bdist_wheel": WheelOfMachineCode},
    )
