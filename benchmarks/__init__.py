"""Work against precision of pliant and its peers on the same problems, in one process run."""

import os
import sys

# One thread each: CPU time sums over threads, so threads that spin of a linear-algebra pool would count as work.
for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

# Exudyn looks for this attribute when it is first imported and then loads its module without range checks.
sys.__dict__["exudynFast"] = True
