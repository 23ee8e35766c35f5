"""What parameters of models of Gaussian classes may be."""

from __future__ import annotations

from discrim.models.parameters import Check, array_like, boolean, either, none, number, one_of, with_method

SHRINKAGE: Check = either(number(0, 1), one_of(None, "auto", "ledoit-wolf", "oas", "nonlinear", "cv", "loo"))
COMMON: dict[str, Check] = {
    "shrinkage": SHRINKAGE,
    "priors": either(none(), array_like()),
    "store_covariance": boolean(),
    "tol": number(0),
    "covariance_estimator": either(none(), with_method("fit")),
    "normalization": one_of("mle", "unbiased"),
    "target": one_of("identity", "diagonal"),
    "selection": one_of("min", "one-se"),
}
