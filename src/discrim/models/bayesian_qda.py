"""Bayesian quadratic discriminant analysis."""

from __future__ import annotations

from typing import ClassVar

from discrim.models.bayesian_base import BayesianDiscriminant


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
    target : {'diagonal', 'identity'}
        U = the variances S_jj / n within the classes, which makes the answers independent of the columns' units
        and psi a number without one, or U = I, where psi is a variance. Psi is then part of the prior: neither
        'evidence' nor 'loo' counts that U was taken from the same rows. Columns that are constant within the
        classes have no scale and are left out by 'diagonal'.
    priors : array of K numbers, or None for the shares of the classes
    class_prior_alpha : float
        The strength a of a Dirichlet prior of the classes: pi_k = (a + n_k) / (a K + n).

    Attributes
    ----------
    psi_, nu_ : what was used
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
