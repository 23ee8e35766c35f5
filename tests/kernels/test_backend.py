"""Which kernels are in use."""

from __future__ import annotations

import subprocess
import sys
import textwrap

from discrim import _kernels

WITHOUT_NATIVE = """
    import sys
    sys.modules["discrim._kernels._native"] = None  # makes its import fail
    import numpy as np
    from discrim import _kernels
    from discrim.sources import Block
    from discrim.statistics import ClassMoments, Depth

    assert _kernels.BACKEND == "numpy"
    for name in ("class_moments", "score", "code_integers"):
        assert getattr(_kernels, name) is getattr(_kernels.reference, name)
    block = Block(np.array([[1.0], [3.0]]), np.zeros(2, np.int32), np.array(["a"]))
    assert ClassMoments.of(block, Depth.POOLED).scatter.tolist() == [[2.0]]
"""


def test_without_the_compiled_module_the_references_are_used():
    ran = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(WITHOUT_NATIVE)], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr


def test_every_kernel_has_a_reference_of_the_same_name():
    for name in ("class_moments", "score", "code_integers"):
        assert callable(getattr(_kernels, name))
        assert getattr(_kernels, name).__name__ == getattr(_kernels.reference, name).__name__
