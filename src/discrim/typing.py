"""Names of the arrays that the whole package is about."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Index = NDArray[np.intp]
Codes = NDArray[np.int32]
Mask = NDArray[np.bool_]
