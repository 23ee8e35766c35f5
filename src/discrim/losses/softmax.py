"""Cross entropy of several classes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discrim.typing import Floats

Codes = NDArray[np.integer]

# The change of the slope is at most this part of the change of the scores: p p' - diag(p) has no larger eigenvalue.
SOFTMAX_CURVATURE = 0.5


def softmax_value(h: Floats, code: Codes) -> Floats:
    """- log p_code with p = softmax(h), for scores n x K and the numbers of the classes, n."""
    shifted = h - h.max(axis=1, keepdims=True)
    own = shifted[np.arange(len(h)), code]
    return np.asarray(np.log(np.exp(shifted).sum(axis=1)) - own)


def softmax_slope(h: Floats, code: Codes) -> Floats:
    """Derivatives by the scores, n x K: p - 1 for the row's own class and p for the others."""
    p = softmax(h)
    p[np.arange(len(h)), code] -= 1.0
    return p


def softmax(h: Floats) -> Floats:
    """exp(h_k) / sum exp(h), without overflow."""
    e = np.exp(h - h.max(axis=1, keepdims=True))
    return np.asarray(e / e.sum(axis=1, keepdims=True))
