"""Feature maps: a linear rule in functions of the columns is a curved one in the columns themselves.

Each is a scikit-learn transformer. Given a ``scan`` it gives a scan, whose blocks are mapped as they are read, so that
``make_pipeline(QuadraticBasis(), LinearDiscriminantAnalysis()).fit(scan(...))`` needs no more memory than a block.
"""

from discrim.public import names_in_stub

__getattr__, __dir__, __all__ = names_in_stub(__name__)
