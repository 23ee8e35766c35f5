"""What can be asked of a fitted logistic regression besides predictions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from discrim.errors import DataError, ParameterError
from discrim.families.online.trace import Trace
from discrim.inference import deviance_tests, hypotheses, influence, intervals, predictions
from discrim.inference.covariance import Covariance, standard_errors
from discrim.inference.fitted import Fitted
from discrim.inference.glm_summary import glm_summary
from discrim.inference.hypotheses import WaldTest
from discrim.inference.intervals import Intervals
from discrim.inference.newton_trace import newton_trace
from discrim.inference.predictions import Predictions
from discrim.inference.summary import Summary, Table
from discrim.sources import Rows
from discrim.typing import Floats


class LogisticInference:
    """The methods of inference, over the ``_fitted`` that ``fit`` leaves behind.

    A subclass defines ``_refit_on(terms, criterion)``: the same model, fitted on these terms of the same rows, which
    the criterion chose.
    """

    steps_: Table
    inference: Any
    # The answers of the classifier, whose standard errors are given here.
    predict_log_proba: Callable[..., NDArray[Any]]
    rows_of: Callable[[Any], Rows]
    kept_summary: Callable[[], Summary | None]

    @property
    def _fitted(self) -> Fitted | None:
        raise NotImplementedError

    def regrouped(
        self, names: list[str], terms: list[tuple[str, list[int]]], margins: Mapping[str, Sequence[str]]
    ) -> Self:
        """A copy that tests these terms, each some of the columns."""
        raise NotImplementedError

    def _refit_on(self, terms: Sequence[str], criterion: str) -> Self:
        raise NotImplementedError

    def summary(self, cov_type: str = "auto", groups: Any = None, weights: str = "auto") -> Summary:
        """Coefficients, standard errors, tests and deviances: prints as text, renders in a notebook, has arrays.

        ``names`` (intercept first), ``coef``, ``std_error``, ``statistic``, ``p_value``; ``deviance``,
        ``null_deviance``, ``df_residual``, ``df_null``, ``aic``, ``bic``, ``loglik``, ``iterations``. A column that
        others determine has NaN, an infinite estimate +-inf. With an L2 penalty standard errors are those of
        H^-1 I H^-1, which leave out the bias; after an L1 penalty there are none.

        ``cov_type`` chooses the standard errors: "model" (the inverse information; weights are numbers of equal
        rows), "HC0" or "HC1" (sandwich, which holds also where the model does not), "cluster" (sandwich for rows that
        depend on each other within ``groups``, one label a row), "quasi" (the model's times the dispersion that
        Pearson's residuals show, with Student's t, as R's quasibinomial). "auto" is the model's, or HC0 where weights
        are class weights or fractions, which carry no more information than their rows. The heading names what was
        taken. ``weights`` says what the weights are where that is not so: "frequency" (numbers of equal rows; "auto" is
        then "model", and n their sum), "precision" (a row of weight w is the mean of w measurements; "quasi") or
        "importance" ("HC0"). Rows of ``trials`` that vary more than binomial counts get a remark.
        """
        plain = cov_type == "auto" and groups is None and weights == "auto"
        known = self.kept_summary() if plain else None
        return glm_summary(self.fitted_model(), cov_type, groups, weights) if known is None else known

    @property
    def trace_(self) -> Trace:
        """The steps of Newton's method (iteratively reweighted least squares) from coefficients of zero.

        ``coef``, ``intercept`` and ``loss`` (minus the log-likelihood, plus the L2 penalty) before each step and at the
        end, whichever solver found the estimate. They are computed when asked for, from the rows of the fit.
        """
        return newton_trace(self.fitted_model())

    def _summarise(self) -> Summary:
        return self.summary()

    @property
    def vcov(self) -> Covariance:
        """The covariance matrix of the coefficients, in the order of ``summary().names``.

        Called, it gives that of another kind: ``vcov(cov_type="HC0")``, with the parameters of ``summary``.
        """
        fitted = self.fitted_model()
        intervals.refuse_after_choice(fitted, "vcov")
        return Covariance(standard_errors(fitted).vcov, fitted)

    def confint(
        self,
        level: float = 0.95,
        method: str = "wald",
        cov_type: str = "auto",
        groups: Any = None,
        weights: str = "auto",
    ) -> Intervals:
        """Intervals (q x 2) of the coefficients: Wald's, or those of the profile likelihood.

        ``cov_type``, ``groups`` and ``weights`` choose the standard errors of Wald's intervals, as in ``summary``.
        """
        return intervals.confint(self.fitted_model(), level, method, cov_type, groups, weights)

    def odds_ratios(
        self,
        level: float = 0.95,
        method: str = "wald",
        cov_type: str = "auto",
        groups: Any = None,
        weights: str = "auto",
    ) -> Table:
        """exp(coefficient) with the ends of its interval, as ``confint`` has it."""
        return intervals.odds_ratios(self.fitted_model(), self.confint(level, method, cov_type, groups, weights))

    def predict_interval(
        self,
        X: Any,
        level: float = 0.95,
        *,
        offset: Any = None,
        cov_type: str = "auto",
        groups: Any = None,
        weights: str = "auto",
    ) -> Predictions:
        """Probabilities of rows with standard errors and intervals, as R's ``predict(se.fit=TRUE)`` and more.

        ``probability``, ``std_error``, ``lower`` and ``upper`` (of two classes for the second, n; else n x K), ``link``
        and ``link_std_error`` on the scale of log-odds, where the interval is link -+ z standard errors, and
        ``to_frame()``. ``cov_type``, ``groups`` and ``weights`` as in ``summary``. Cost: rows x p^2.

        Examples
        --------
        >>> import numpy as np
        >>> from discrim import LogisticRegression, datasets
        >>> X, y = datasets.load_challenger().xy
        >>> found = LogisticRegression(C=np.inf).fit(X, y).predict_interval([[31.0]])
        >>> found.probability.round(4), found.lower.round(4)
        (array([0.9996]), array([0.4816]))
        """
        fitted = self.fitted_model()
        intervals.refuse_after_choice(fitted, "predict_interval()")
        errors = standard_errors(fitted, cov_type, groups, weights)
        scores = self.predict_log_proba(X) if offset is None else self.predict_log_proba(X, offset)
        return predictions.predictions(fitted, errors, self.rows_of(X), scores, level)

    def marginal_effects(
        self,
        at: str = "overall",
        level: float = 0.95,
        *,
        cov_type: str = "auto",
        groups: Any = None,
        weights: str = "auto",
    ) -> Table:
        """d probability / d column with standard errors by the delta method: averaged over the rows of the fit.

        As Stata's ``margins, dydx(*)`` and statsmodels' ``get_margeff``; ``at="mean"`` is the effect for the mean row.
        Of two classes for the second; of K classes for each, ``class:column``. Cost: one pass.
        """
        fitted = self.fitted_model()
        intervals.refuse_after_choice(fitted, "marginal_effects()")
        return predictions.marginal_effects(fitted, standard_errors(fitted, cov_type, groups, weights), at, level)

    def wald_test(
        self,
        contrasts: Any,
        value: Any = 0.0,
        level: float = 0.95,
        *,
        cov_type: str = "auto",
        groups: Any = None,
        weights: str = "auto",
    ) -> WaldTest:
        """Linear hypotheses R beta = value about the coefficients, each alone and all together.

        ``contrasts`` are names of coefficients, as in ``summary().names``, dicts of name to factor such as
        ``{"x1": 1, "x2": -1}``, lists of these, or the matrix R. As R's ``car::linearHypothesis``.

        Examples
        --------
        >>> import numpy as np
        >>> from discrim import LogisticRegression, datasets
        >>> X, y = datasets.load_challenger().xy
        >>> LogisticRegression(C=np.inf).fit(X, y).wald_test("x0").p_value.__round__(4)
        0.032
        """
        fitted = self.fitted_model()
        intervals.refuse_after_choice(fitted, "wald_test()")
        return hypotheses.wald_test(fitted, standard_errors(fitted, cov_type, groups, weights), contrasts, value, level)

    def drop1(self, test: str | None = "chisq") -> Table:
        """Each term left out in turn: Df, Deviance, AIC, LRT and Pr(>Chi); the whole model is ``<none>``."""
        return deviance_tests.drop1(self.fitted_model(), test)

    def anova(self, smaller: Any = None) -> Table:
        """The likelihood-ratio test of this model against a smaller one, given fitted or as a list of terms.

        Without one the terms are added one by one in their order, as R's ``anova(glm)`` does: Df, Deviance, Resid. Df,
        Resid. Dev and Pr(>Chi). A fitted model that has more is taken as the larger one.
        """
        if smaller is None:
            return deviance_tests.sequential(self.fitted_model())
        other = smaller.fitted_model() if hasattr(smaller, "fitted_model") else smaller
        return deviance_tests.anova(self.fitted_model(), other)

    def step(self, criterion: str = "aic", direction: str = "both") -> Self:
        """The model of the terms that AIC or BIC chooses step by step; its ``steps_`` shows how.

        "both" and "backward" begin with all terms, "forward" with none; "both" may take terms back. Its p-values and
        intervals do not know of the choice, and say so.
        """
        terms, table = deviance_tests.stepwise(self.fitted_model(), criterion, direction)
        model = self._refit_on(terms, criterion)
        model.steps_ = table
        return model

    def residuals(self, kind: str = "deviance") -> Floats:
        """Residuals of the rows: "deviance", "pearson", "response" or "working"."""
        return influence.residuals(self.fitted_model(), kind)

    def dfbetas(self) -> Floats:
        """How far leaving out each row moves each coefficient, in its standard errors (n x q), one Newton step long."""
        return influence.dfbetas(self.fitted_model())

    def leverage(self) -> Floats:
        """The diagonal of the hat matrix; it sums to the number of parameters."""
        return influence.leverage(self.fitted_model())

    def cooks_distance(self) -> Floats:
        """How far leaving out a row moves all coefficients, in units of their joint spread."""
        return influence.cooks_distance(self.fitted_model())

    @property
    def loo_(self) -> influence.LeaveOneOut:
        """Every row predicted without itself, in closed form; ``loo_.exact()`` checks it by refits."""
        fitted = self.fitted_model()
        known: tuple[Fitted, influence.LeaveOneOut] | None = self.__dict__.get("_loo")
        if known is None or known[0] is not fitted:
            known = fitted, influence.leave_one_out(fitted)
            self.__dict__["_loo"] = known
        return known[1]

    def fitted_model(self) -> Fitted:
        """All that inference is made of; an error where the model has not kept it."""
        check_is_fitted(self, "coef_")
        fitted: Fitted | None = self._fitted
        if fitted is None:
            if getattr(self, "inference", False) is False:
                raise ParameterError("The model was fitted with inference=False. Fit it with inference=True.")
            raise DataError(
                "A model with far more columns than rows that was saved or copied carries what predictions need, and "
                "nothing else. Fit it again first."
            )
        return fitted
