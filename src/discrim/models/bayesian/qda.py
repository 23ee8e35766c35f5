"""Bayesian quadratic discriminant analysis."""

from __future__ import annotations

from typing import ClassVar

from discrim.models.bayesian.base import CONSTRAINTS, BayesianDiscriminant
from discrim.models.parameters import Check, one_of
from discrim.models.registry import Entry, enter


class BayesianQuadraticDiscriminantAnalysis(BayesianDiscriminant):
    """Gaussian classes, each with its own covariance, that are averaged over instead of estimated.

    **Model.** x | class k ~ N(mu_k, Sigma_k), class k with probability pi_k; mu_k flat, Sigma_k ~ IW(nu, Psi), the
    inverse-Wishart with mean Psi / (nu - p - 1).

    **Statistic.** Class weights n_k, means and centred scatters S_k (``ClassMoments``, full). Weights count rows.

    **Estimate.** None is plugged in. The posterior is Sigma_k ~ IW(nu + n_k - 1, Psi + S_k), mu_k | Sigma_k ~
    N(mean_k, Sigma_k / n_k), and a new row of class k is Student-t with df_k = nu + n_k - p degrees of freedom,
    location mean_k and scale (Psi + S_k)(1 + 1/n_k) / df_k.

    **Rule.** The largest log pi_k + log f_k(x) with this density f_k. All its Gamma functions are kept, so that
    classes of unequal size are weighed rightly. psi = 0 and nu = 0 is Geisser's rule; many rows make it QDA's.

    Cost: one read of X with n p^2 / 2 multiplications, then K p^3; with more columns than rows K n^2 p, and nothing
    p x p. 'evidence' and 'loo' need one eigendecomposition a class, whatever the number of values tried.

    Parameters
    ----------
    psi : float, 'evidence', 'loo', p numbers or a p x p matrix
        Psi = psi U with U as ``target`` says; p numbers are its diagonal and a matrix is Psi itself. 'evidence': the
        psi of the largest marginal likelihood, which the statistic alone gives, so that parts, merged models and
        streams choose it anew. 'loo': the psi of the largest leave-one-out predictive density of the rows, in closed
        form; it needs the rows, and parts that come later keep it.
    nu : float, None for p + 2, 'evidence' or 'loo'
        With p + 2 the prior mean of Sigma_k is Psi, and a class of one row still has df_k = 3. Every
        nu + n_k - p must be positive.
    target : {'diagonal', 'identity', 'class-diagonal', 'auto'}
        'diagonal': U = the variances S_jj / n within the classes, which makes the answers independent of the columns'
        units and psi a number without one. 'identity': U = I, where psi is a variance. 'class-diagonal': each class
        has its own U_k = the variances S_k,jj / n_k, for classes that differ in their variances: psi = nu, both
        large, is nearly naive Bayes, where 'diagonal' has classes that differ in means alone; where a class has no
        variance in a column, or less than three rows, it takes those of 'diagonal'. Columns that are constant within
        all classes have no scale and are left out, but for 'identity'. U is part of the prior: neither 'evidence' nor
        'loo' counts that it was taken from the same rows, and while psi is chosen it stays at those of all rows.
        'auto': 'diagonal' or 'class-diagonal', whichever is better by the way in which psi or nu is chosen. Here it
        counts whence U came, or the more numerous variances would win where they fit noise: the log evidence is less
        one for every variance, and a row that is left out leaves the variances too, to first order.
    priors : array of K numbers, or None for the shares of the classes
    class_prior_alpha : float
        The strength a of a Dirichlet prior of the classes: pi_k = (a + n_k) / (a K + n).

    Attributes
    ----------
    target_, psi_, nu_ : what was used; target_ is 'given' for a psi of p numbers or a matrix
    df_ : K degrees of freedom
    log_evidence_ : log marginal likelihood of the training rows, for a proper prior
    means_, priors_, classes_, statistic_

    Examples
    --------
    >>> from discrim import BayesianQuadraticDiscriminantAnalysis, datasets
    >>> X, y = datasets.load_iris().xy
    >>> model = BayesianQuadraticDiscriminantAnalysis().fit(X, y)
    >>> model.score(X, y)
    0.98
    >>> model.posterior("setosa").confint().shape
    (4, 2)
    """

    _shared: ClassVar[bool] = False
    _title: ClassVar[str] = "Bayesian quadratic discriminant analysis"

    _constraints: ClassVar[dict[str, Check]] = {
        **CONSTRAINTS,
        "target": one_of("diagonal", "identity", "class-diagonal", "auto"),
    }


enter(
    Entry(
        "Bayesian QDA",
        BayesianQuadraticDiscriminantAnalysis,
        lambda _: BayesianQuadraticDiscriminantAnalysis(),
        cost=11,
    )
)
