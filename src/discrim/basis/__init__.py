"""Feature maps: a linear rule in functions of the columns is a curved one in the columns themselves.

Each is a scikit-learn transformer. Given a ``scan`` it gives a scan, whose blocks are mapped as they are read, so that
``make_pipeline(QuadraticBasis(), LinearDiscriminantAnalysis()).fit(scan(...))`` needs no more memory than a block.
"""

from discrim.basis.base import Basis, FunctionBasis, JoinedBasis
from discrim.basis.gaussian import FourierBasis, RadialBasis
from discrim.basis.piecewise import SplineBasis, StepBasis
from discrim.basis.polynomial import PolynomialBasis, QuadraticBasis

__all__ = [
    "Basis",
    "FourierBasis",
    "FunctionBasis",
    "JoinedBasis",
    "PolynomialBasis",
    "QuadraticBasis",
    "RadialBasis",
    "SplineBasis",
    "StepBasis",
]
