"""Many classes told apart by classifiers of two."""

from discrim.decision.multiclass.one_vs_one import OneVsOneClassifier
from discrim.decision.multiclass.one_vs_rest import OneVsRestClassifier
from discrim.decision.multiclass.output_code import OutputCodeClassifier

__all__ = ["OneVsOneClassifier", "OneVsRestClassifier", "OutputCodeClassifier"]
