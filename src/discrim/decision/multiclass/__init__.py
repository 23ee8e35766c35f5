"""Many classes by classifiers of two."""

from discrim.decision.multiclass.one_vs_one import OneVsOneClassifier as OneVsOneClassifier
from discrim.decision.multiclass.one_vs_rest import OneVsRestClassifier as OneVsRestClassifier
from discrim.decision.multiclass.output_code import OutputCodeClassifier as OutputCodeClassifier

__all__ = [kind.__name__ for kind in (OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier)]
