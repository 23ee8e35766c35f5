"""Hot loops: C++ where it was built, the NumPy reference that says the same elsewhere."""

from __future__ import annotations

from discrim._kernels import reference
from discrim._kernels.reference import (
    BEST,
    DIAGONAL,
    DIAGONAL_RULE,
    FULL,
    LINEAR,
    LOG_POSTERIOR,
    POOLED,
    POSTERIOR,
    QUADRATIC,
    SCORES,
)

try:
    from discrim._kernels import _native
except ImportError:
    BACKEND = "numpy"
    class_moments = reference.class_moments
    score = reference.score
    code_integers = reference.code_integers
else:
    BACKEND = "native"
    class_moments = _native.class_moments
    score = _native.score
    code_integers = _native.code_integers

__all__ = [
    "BACKEND",
    "BEST",
    "DIAGONAL",
    "DIAGONAL_RULE",
    "FULL",
    "LINEAR",
    "LOG_POSTERIOR",
    "POOLED",
    "POSTERIOR",
    "QUADRATIC",
    "SCORES",
    "class_moments",
    "code_integers",
    "score",
]
