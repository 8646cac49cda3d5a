"""``python -m pliant.jit``: compile all listed kernels that are not there yet; with a folder, for a wheel, into it.

``--times`` tells what each of them took.
"""

import sys
from pathlib import Path

from pliant.jit.ahead import compile_all
from pliant.jit.shipping import ship

if sys.argv[1:] == ["--times"]:
    sys.exit(0 if compile_all(tell_times=True) else 1)
if len(sys.argv) > 1:
    print(f"{ship(Path(sys.argv[1]))} kernels in {sys.argv[1]}")
else:
    sys.exit(0 if compile_all() else 1)
