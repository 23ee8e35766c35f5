# The public names, each listed once: type checkers read this file, and so does __init__.py.

from discrim import basis as basis
from discrim import comparison as comparison
from discrim import datasets as datasets
from discrim import decision as decision
from discrim import errors as errors
from discrim import evaluation as evaluation
from discrim import exports as exports
from discrim import inference as inference
from discrim import losses as losses
from discrim import models as models
from discrim import plots as plots
from discrim import statistics as statistics
from discrim import store as store
from discrim import text as text
from discrim.comparison import compare as compare
from discrim.decision.multiclass import OneVsOneClassifier as OneVsOneClassifier
from discrim.decision.multiclass import OneVsRestClassifier as OneVsRestClassifier
from discrim.decision.multiclass import OutputCodeClassifier as OutputCodeClassifier
from discrim.evaluation import compare_auc as compare_auc
from discrim.evaluation import confusion as confusion
from discrim.evaluation import cross_validate as cross_validate
from discrim.evaluation import roc as roc
from discrim.exports import export as export
from discrim.models import *  # noqa: F403 - listed in their own package
from discrim.sources import scan as scan
from discrim.store import load as load
from discrim.store import save as save
from discrim.versions import show_versions as show_versions

__version__: str
