"""A pytest plugin: scikit-learn's tests of its multi-class schemes meet ours under scikit-learn's names.

It has to be loaded before the test module, which binds the names when it is imported.
"""

from sklearn import multiclass

from discrim.decision.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier

for ours in (OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier):
    setattr(multiclass, ours.__name__, ours)
