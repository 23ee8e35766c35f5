"""Bayesian linear discriminant analysis."""

from __future__ import annotations

from typing import ClassVar

from discrim.models.bayesian.base import BayesianDiscriminant
from discrim.models.registry import Entry, enter


class BayesianLinearDiscriminantAnalysis(BayesianDiscriminant):
    """Gaussian classes with one covariance, which is averaged over instead of estimated.

    **Model.** x | class k ~ N(mu_k, Sigma), class k with probability pi_k; mu_k flat, Sigma ~ IW(nu, Psi).

    **Statistic.** Class weights n_k, means and the pooled centred scatter S (``ClassMoments``). Weights count rows.

    **Estimate.** None is plugged in. The K flat means leave Sigma ~ IW(nu + n - K, Psi + S), and a new row of class k
    is Student-t with df = nu + n - K - p + 1 degrees of freedom, location mean_k and scale
    (Psi + S)(1 + 1/n_k) / df.

    **Rule.** The largest log pi_k + log f_k(x) with this density f_k. For classes of equal size the boundaries are
    hyperplanes where the pi_k are equal too; else they bend.

    R's ``predict.lda(method = "predictive")`` has this density in mind, but scales the new row and not the class
    means, and looks at the discriminant coordinates only, while a Student-t needs the distance in all p columns:
    its posteriors are near these, never equal.

    Cost: one read of X with n p^2 / 2 multiplications, then p^3; with more columns than rows n^2 p.

    Parameters
    ----------
    psi, nu, priors, class_prior_alpha
        As for BayesianQuadraticDiscriminantAnalysis, for the one Sigma.
    target : {'diagonal', 'identity'}
        As there; one Sigma has no scale of each class.

    Attributes
    ----------
    target_, psi_, nu_ : what was used; target_ is 'given' for a psi of p numbers or a matrix
    df_ : K degrees of freedom, all the same
    log_evidence_ : log marginal likelihood of the training rows, for a proper prior
    means_, priors_, classes_, statistic_

    Examples
    --------
    >>> from discrim import BayesianLinearDiscriminantAnalysis, datasets
    >>> X, y = datasets.load_iris().xy
    >>> BayesianLinearDiscriminantAnalysis().fit(X, y).score(X, y)
    0.98
    """

    _shared: ClassVar[bool] = True
    _title: ClassVar[str] = "Bayesian linear discriminant analysis"


enter(Entry("Bayesian LDA", BayesianLinearDiscriminantAnalysis, lambda _: BayesianLinearDiscriminantAnalysis(), cost=8))
