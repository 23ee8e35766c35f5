"""Rules of known densities in model files."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from discrim.decision import BayesClassifier
from discrim.errors import ModelFileError
from discrim.store.files import from_bytes, to_bytes

LINE = np.linspace(-5, 8, 200)[:, None]
SPREAD = [[1.0, 0.3], [0.3, 2.0]]


@pytest.mark.parametrize(
    "densities",
    [
        {1: stats.norm(-1, 1), 2: stats.norm(1, 1 / 3)},
        [stats.gamma(2, scale=3), stats.t(df=3, loc=1)],
        {"a": stats.multivariate_normal([0, 1], SPREAD), "b": stats.multivariate_t([1, 1], np.eye(2), df=4)},
    ],
)
def test_a_rule_of_densities_answers_the_same_bits_after_a_file(densities):
    model = BayesClassifier(densities, priors=[0.3, 0.7], costs=[[0, 1], [2, 0]])
    rows = LINE if model.n_features_in_ == 1 else np.hstack([LINE, LINE[::-1] ** 2])
    loaded = from_bytes(bytearray(to_bytes(model)))
    assert np.array_equal(loaded.predict_proba(rows), model.predict_proba(rows))
    assert np.array_equal(loaded.predict(rows), model.predict(rows))
    assert loaded.classes_.tolist() == model.classes_.tolist()
    assert to_bytes(loaded) == to_bytes(model)


def test_other_densities_are_named():
    class Own(stats.rv_continuous):
        def _pdf(self, x):
            return np.exp(-(x**2))

    for density in (stats.gaussian_kde(LINE[:, 0]), Own(name="norm")()):
        with pytest.raises(ModelFileError, match=r"'model.parameters.densities.1' is .*distributions of scipy.stats"):
            to_bytes(BayesClassifier([stats.norm(0, 1), density]))


@pytest.mark.parametrize(("old", "new"), [("norm", "os.system"), ("norm", "kstwo"), ("norm", "beta")])
def test_a_density_that_a_file_cannot_have_is_refused(old, new):
    from discrim.decision.densities import Densities
    from discrim.store.fields import Incoming, Outgoing

    out = Outgoing()
    node = Densities().write([stats.norm(0, 1)], out, "d")
    assert Densities().read(node, Incoming(out.arrays), "d")[0].mean() == 0
    node["densities"][0]["distribution"] = new
    with pytest.raises(ModelFileError):
        Densities().read(node, Incoming(out.arrays), "d")
