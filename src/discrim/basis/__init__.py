"""Feature maps: a linear rule in functions of the columns is a curved one in the columns themselves.

Each is a scikit-learn transformer. Given a ``scan`` it gives a scan, whose blocks are mapped as they are read, so that
``make_pipeline(QuadraticBasis(), LinearDiscriminantAnalysis()).fit(scan(...))`` needs no more memory than a block.
"""

from discrim.basis.base import Basis
from discrim.basis.fourier import FourierBasis
from discrim.basis.function import FunctionBasis
from discrim.basis.joined import JoinedBasis
from discrim.basis.polynomial import PolynomialBasis, QuadraticBasis
from discrim.basis.radial import RadialBasis
from discrim.basis.splines import SplineBasis
from discrim.basis.steps import StepBasis

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
