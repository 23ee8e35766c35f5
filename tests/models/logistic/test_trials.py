"""With ``trials`` y counts successes; shares of them are refused, not taken for counts."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from discrim import LogisticRegression, LogisticRegressionCV
from discrim.errors import DataError

X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]])
TRIALS = np.array([10, 12, 8, 20, 15, 10])
COUNTS = np.array([1, 3, 3, 11, 10, 8])


@pytest.mark.parametrize("put", [list, np.asarray, pd.Series], ids=["list", "array", "series"])
@pytest.mark.parametrize(
    "model",
    [LogisticRegression(C=np.inf), LogisticRegression(bias_reduction="firth", C=np.inf), LogisticRegression()],
    ids=str,
)
def test_shares_of_the_trials_are_refused_and_named(model, put):
    message = r"y must hold whole numbers of successes; row 0 has 0\.1\. .*shares of the trials: pass y \* trials"
    with pytest.raises(DataError, match=message):
        model.fit(X[:3], put([0.1, 0.3, 0.6]), trials=[10] * 3)
    with pytest.raises(DataError, match="pass y \\* trials"):
        model.fit(X, put(COUNTS / TRIALS), trials=TRIALS)
    with pytest.raises(DataError, match=r"row 1 has 0\.5"):
        model.fit(X[:3], put([0.0, 0.5, 1.0]), trials=2)


def test_so_they_are_in_cross_validation():
    model = LogisticRegressionCV(Cs=2, cv=2, use_legacy_attributes=False, l1_ratios=(0,), scoring="neg_log_loss")
    with pytest.raises(DataError, match="pass y \\* trials"):
        model.fit(X, COUNTS / TRIALS, trials=TRIALS)


def test_what_the_message_says_is_the_fit_that_was_meant():
    counted = LogisticRegression(C=np.inf).fit(X, COUNTS, trials=TRIALS)
    # 0.3 * 10 is not quite 3: rounding does not count.
    meant = LogisticRegression(C=np.inf).fit(X, COUNTS / TRIALS * TRIALS, trials=TRIALS)
    assert_allclose(meant.coef_, counted.coef_, rtol=1e-12)
    long = np.concatenate([np.repeat([1, 0], [c, t - c]) for c, t in zip(COUNTS, TRIALS, strict=True)])
    single = LogisticRegression(C=np.inf).fit(X.repeat(TRIALS, axis=0), long)
    assert_allclose(counted.coef_, single.coef_, rtol=1e-8)
    assert_allclose(counted.summary().std_error, single.summary().std_error, rtol=1e-8)


def test_zeros_and_ones_are_counts():
    model = LogisticRegression(C=np.inf).fit(X, [0, 1, 0, 1, 0, 1], trials=TRIALS)
    known = LogisticRegression(C=np.inf).fit(
        np.vstack([X, X]), np.repeat([1, 0], 6), np.concatenate([[0, 1, 0, 1, 0, 1], TRIALS - [0, 1, 0, 1, 0, 1]])
    )
    assert_allclose(model.coef_, known.coef_, rtol=1e-8)


def test_other_broken_numbers_are_refused_too():
    with pytest.raises(DataError, match=r"whole numbers of successes; row 3 has 2\.5\. Round them"):
        LogisticRegression().fit(X, [1, 3, 3, 2.5, 10, 8], trials=TRIALS)
