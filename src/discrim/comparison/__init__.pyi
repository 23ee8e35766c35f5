from discrim.comparison.comparing import compare as compare
from discrim.comparison.result import Comparison as Comparison
