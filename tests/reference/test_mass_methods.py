"""The other ways of R's predict.lda and predict.qda: what they stand for, and where MASS departs from it.

make_reference.R writes both: ``right`` is the Student-t predictive density and the unbiased log density by their
definitions, in base R; ``mass`` is what MASS 7.3-58.2 answers. They agree for qda(method = "mle") with "predictive"
and classes of equal size, and for lda with "debiased", classes of equal size and no more columns than discriminant
coordinates. The last tests show, number by number, what makes the difference elsewhere.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import digamma, gammaln, softmax

from discrim import (
    BayesianLinearDiscriminantAnalysis,
    BayesianQuadraticDiscriminantAnalysis,
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from discrim.datasets import load_crabs, load_iris

L, Q = LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
GEISSER = {"lda": BayesianLinearDiscriminantAnalysis, "qda": BayesianQuadraticDiscriminantAnalysis}
CASES = ["iris", "petals", "unequal iris", "crabs"]


@pytest.fixture(scope="module")
def cases(mass):
    X, y = load_iris().xy
    crabs = load_crabs(log=True).xy
    return {
        "iris": (X, y, mass["iris"]["methods"]),
        "petals": (X[:, 2:], y, mass["iris"]["methods_of_petals"]),
        "unequal iris": (X[20:140], y[20:140], mass["iris"]["methods_of_rows_20_to_139"]),
        "crabs": (*crabs, mass["crabs"]["methods"]),
    }


def same(found, expected):
    assert_allclose(found, expected, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("normalization", ["mle", "unbiased"])
@pytest.mark.parametrize("method", ["predictive", "debiased"])
@pytest.mark.parametrize("kind", ["lda", "qda"])
@pytest.mark.parametrize("case", CASES)
def test_posteriors_are_those_of_the_definition(cases, case, kind, method, normalization):
    X, y, numbers = cases[case]
    model = {"lda": L, "qda": Q}[kind](predict_method=method, normalization=normalization).fit(X, y)
    same(model.predict_proba(X[numbers["row"]]), numbers["right"][f"{kind}_{method}"])


@pytest.mark.parametrize("kind", ["lda", "qda"])
@pytest.mark.parametrize("case", CASES)
def test_a_bayesian_discriminant_without_a_prior_is_the_predictive_rule(cases, case, kind):
    X, y, numbers = cases[case]
    model = GEISSER[kind](psi=0, nu=0).fit(X, y)
    same(model.predict_proba(X[numbers["row"]]), numbers["right"][f"{kind}_predictive"])


@pytest.mark.parametrize("case", ["iris", "petals", "crabs"])
def test_predictive_qda_of_equal_classes_is_that_of_mass(cases, case):
    X, y, numbers = cases[case]
    model = Q(predict_method="predictive").fit(X, y)
    same(model.predict_proba(X[numbers["row"]]), numbers["mass"]["qda_mle_predictive"])


def test_debiased_lda_of_equal_classes_and_few_columns_is_that_of_mass(cases):
    X, y, numbers = cases["petals"]
    model = L(predict_method="debiased").fit(X, y)
    same(model.predict_proba(X[numbers["row"]]), numbers["mass"]["lda_debiased"])


def test_mass_leaves_the_gamma_functions_out_of_unequal_classes(cases):
    X, y, numbers = cases["unequal iris"]
    model = BayesianQuadraticDiscriminantAnalysis(psi=0, nu=0).fit(X, y)
    n, p = model.statistic_.weight, X.shape[1]
    scores = model.predict_log_proba(X[numbers["row"]]) - (gammaln(n / 2) - gammaln((n - p) / 2))
    same(softmax(scores, axis=1), numbers["mass"]["qda_mle_predictive"])
    assert np.abs(np.subtract(numbers["mass"]["qda_mle_predictive"], numbers["right"]["qda_predictive"])).max() > 0.05


@pytest.mark.parametrize("case", CASES)
def test_mass_debiases_qda_with_other_constants(cases, case):
    """1 - (p - 1)/(n_k - 1) instead of 1 - (p + 1)/(n_k - 1), and K digammas instead of p."""
    X, y, numbers = cases[case]
    model = Q(normalization="unbiased", store_covariance=True).fit(X, y)
    n, p, K = model.statistic_.weight, X.shape[1], len(model.classes_)
    scores = []
    for k, sigma in enumerate(model.covariance_):
        d = X[numbers["row"]] - model.means_[k]
        distance = (1 - (p - 1) / (n[k] - 1)) * np.einsum("ij,jk,ik->i", d, np.linalg.inv(sigma), d) - p / n[k]
        log_det = (
            np.linalg.slogdet(sigma)[1] + p * np.log((n[k] - 1) / 2) - digamma((n[k] - np.arange(1, K + 1)) / 2).sum()
        )
        scores.append(np.log(model.priors_[k]) - 0.5 * (distance + log_det))
    same(softmax(np.transpose(scores), axis=1), numbers["mass"]["qda_debiased"])


@pytest.mark.parametrize("case", CASES)
def test_mass_debiases_lda_in_the_discriminant_coordinates(cases, case):
    X, y, numbers = cases[case]
    model = L(normalization="unbiased").fit(X, y)
    n, used = model.statistic_.weight, min(X.shape[1], len(model.classes_) - 1)
    z, centres = model.transform(X[numbers["row"]]), model.transform(model.means_)
    distance = np.square(z[:, None] - centres).sum(axis=2)
    left = n.sum() - len(n)
    scores = np.log(model.priors_) - 0.5 * (left - used - 1) / left * distance - used / n
    same(softmax(scores, axis=1), numbers["mass"]["lda_debiased"])
