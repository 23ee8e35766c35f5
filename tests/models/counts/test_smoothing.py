"""alpha chosen by leaving rows out: the losses are those of refitting, and real texts are read better for it."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn import naive_bayes as peers
from sklearn.model_selection import StratifiedKFold

from discrim import BernoulliNB, ComplementNB, MultinomialNB, cross_validate

KINDS = [BernoulliNB, ComplementNB, MultinomialNB]
SHARED = Path(__file__).resolve().parents[4] / "shared" / "data"


def rows(n=50):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, n)
    X = rng.poisson(np.array([[1.0, 0.2, 0.5, 1.0], [0.2, 1.0, 0.5, 1.0], [0.6, 0.6, 1.5, 1.0]])[y])
    return X.astype(float), y, rng.integers(1, 9, n) / 4.0


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("how", ["loo", "cv"])
@pytest.mark.parametrize("kind", [*KINDS, partial(ComplementNB, norm=True), partial(BernoulliNB, binarize=1.0)])
def test_the_losses_are_those_of_every_alpha_cross_validated_by_itself(kind, how, weighted):
    X, y, w = rows()
    w = w if weighted else None
    alphas = [0.01, 0.3, 1.0, 20.0]
    model = kind(alpha=how, alphas=alphas, cv=4).fit(X, y, w)
    apart = [cross_validate(kind(alpha=a), X, y, "loo" if how == "loo" else 4, sample_weight=w) for a in alphas]
    assert_allclose(getattr(model, f"{how}_log_loss_"), [one.log_loss for one in apart], rtol=1e-10)
    assert_allclose(getattr(model, f"{how}_error_"), [one.error for one in apart], rtol=1e-12)
    assert model.alpha_ == alphas[int(np.argmin([one.log_loss for one in apart]))]
    assert_allclose(model.feature_log_prob_, kind(alpha=model.alpha_).fit(X, y, w).feature_log_prob_)


@pytest.mark.parametrize("kind", KINDS)
def test_without_a_grid_the_best_alpha_is_looked_for_more_closely(kind):
    X, y, _ = rows()
    model = kind(alpha="loo").fit(sparse.csr_array(X), y)
    assert len(model.alphas_) > 20
    assert (np.diff(model.alphas_) > 0).all()
    assert model.alpha_ == model.alphas_[model.loo_log_loss_.argmin()]
    losses = [cross_validate(kind(alpha=model.alpha_ * f), X, y, "loo").log_loss for f in (0.8, 1.0, 1.25)]
    assert losses[1] <= min(losses) + 1e-3


def test_a_class_of_one_row_does_not_spoil_the_choice():
    X, y, _ = rows()
    y[7] = 9
    model = MultinomialNB(alpha="loo").fit(X, y)
    assert np.isfinite(model.loo_log_loss_).all()
    with pytest.raises(ValueError, match="at least two rows"):
        MultinomialNB(alpha="loo").fit(X[:1], y[:1])


def load(name):
    if not (SHARED / name).is_file():
        pytest.skip(f"needs {name} in the folder shared/data beside the repository")
    z = np.load(SHARED / name)
    return sparse.csr_array((z["data"], z["indices"], z["indptr"]), shape=tuple(z["shape"])), z["y"]


@pytest.mark.shared
@pytest.mark.parametrize("alpha", [1.0, 0.01])
@pytest.mark.parametrize("kind", KINDS)
def test_newsgroups_are_classified_as_well_as_by_scikit_learn(kind, alpha):
    (X, y), (new, truth) = load("newsgroups20/counts_train.npz"), load("newsgroups20/counts_test.npz")
    ours, peer = kind(alpha=alpha).fit(X, y), getattr(peers, kind.__name__)(alpha=alpha).fit(X, y)
    assert (ours.predict(new) == truth).mean() == (peer.predict(new) == truth).mean()


@pytest.mark.shared
@pytest.mark.parametrize("kind", KINDS)
def test_a_chosen_alpha_tells_newsgroups_apart_at_least_as_well_as_the_default(kind):
    (X, y), (new, truth) = load("newsgroups20/counts_train.npz"), load("newsgroups20/counts_test.npz")
    chosen = kind(alpha="loo", alphas=np.geomspace(1e-3, 10, 9)).fit(X, y)
    assert chosen.score(new, truth) >= getattr(peers, kind.__name__)().fit(X, y).score(new, truth)


@pytest.mark.shared
@pytest.mark.parametrize("kind", KINDS)
def test_a_chosen_alpha_finds_spam_in_short_messages_at_least_as_well_as_the_default(kind):
    X, y = load("sms_spam/counts.npz")
    splits = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y))
    chosen = cross_validate(kind(alpha="loo", alphas=np.geomspace(1e-3, 10, 9)), X, y, splits)
    default = cross_validate(kind(), X, y, splits)
    assert chosen.error <= default.error
