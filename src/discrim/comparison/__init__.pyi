from discrim.comparison.baseline import MajorityClassifier as MajorityClassifier
from discrim.comparison.comparing import compare as compare
from discrim.comparison.prepared import PreparedClassifier as PreparedClassifier
from discrim.comparison.result import Comparison as Comparison
