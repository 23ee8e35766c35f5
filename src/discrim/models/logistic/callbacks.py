"""scikit-learn's callbacks, from its version 1.9 on: what they see of a logistic fit, step by step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from discrim.errors import warn
from discrim.families.first_look import look
from discrim.families.logistic.coefficients import user_coefficients
from discrim.families.logistic.fit import Watch
from discrim.families.logistic.objective import Coordinates
from discrim.families.recipe import Passes
from discrim.models.logistic.training import Training
from discrim.typing import Floats

if TYPE_CHECKING:

    class CallbackSupport:
        """The methods that scikit-learn's own mixin has."""

        _skl_callbacks: list[Any]

        def set_callbacks(self, *callbacks: Any) -> Self: ...

        def _init_callback_context(self, *, max_subtasks: int) -> Any: ...

else:
    try:
        from sklearn.callback import CallbackSupportMixin
    except ImportError:  # an older scikit-learn, which has no callbacks either

        class CallbackSupport:
            """Nothing: estimators of this scikit-learn take no callbacks."""

    else:

        class CallbackSupport(CallbackSupportMixin):
            """``set_callbacks``, which says for which solvers single steps are reported."""

            def set_callbacks(self, *callbacks: Any) -> Self:
                """Set callbacks for the estimator.

                Each step of a fit without an L1 penalty is a task of its own; other fits are one task.
                """
                if self.solver not in ("auto", "lbfgs"):
                    warn(
                        f"Callbacks are only supported in {type(self).__name__} for solver='lbfgs' and 'auto'. This "
                        f"estimator has solver='{self.solver}': they see the fit as a whole, without its steps.",
                        UserWarning,
                    )
                return super().set_callbacks(*callbacks)


@contextmanager
def reported(
    model: Any, rows: Passes, columns: Mapping[str, Any], given: Training, *, penalised: bool
) -> Iterator[Watch | None]:
    """The fit as tasks of the callbacks of ``model``, which must have some: one for all, and one for each step.

    A task begins where the step before has ended, so that the last one is empty, as in scikit-learn.
    """
    from sklearn.callback._callback_support import callback_management_context

    classes = look(rows, 1).classes if rows.shape.classes is None else rows.shape.classes
    softmax = len(classes) > 2
    known = {**columns, "classes_": classes}
    metadata = None if given.sample_weight is None else {"sample_weight": given.sample_weight}
    told: dict[str, Any] = {"estimator": model, "X": given.X, "y": given.y, "metadata": metadata}

    def attributes(user: Floats) -> dict[str, Any]:
        return {**known, "coef_": user[:, 1:].copy(), "intercept_": user[:, 0].copy()}

    with callback_management_context(model):
        whole = model._init_callback_context(max_subtasks=max(model.max_iter, 1) + 1)
        whole.call_on_fit_task_begin(**told)
        steps = _Steps(whole, told, max(model.max_iter, 1))
        nothing = np.zeros((len(classes) if softmax else 1, rows.shape.width + 1))
        steps.begin(attributes(nothing))

        def watch(theta: Floats, coordinates: Coordinates) -> None:
            steps.end(attributes(user_coefficients(theta, coordinates, softmax=softmax, penalised=penalised)))

        yield watch if model.solver in ("auto", "lbfgs") else None
        # What the solver did after its last step, such as a proof that classes overlap, counts as steps too.
        final = attributes(np.column_stack([model.intercept_, model.coef_]))
        while steps.count < max(int(model.n_iter_[0]), 1) and model.solver in ("auto", "lbfgs"):
            steps.end(final)
        steps.close()
        whole.call_on_fit_task_end(**told, reconstruction_attributes={})


class _Steps:
    """The tasks of single steps, at most ``most`` and the empty one."""

    def __init__(self, whole: Any, told: dict[str, Any], most: int) -> None:
        self._whole, self._told, self._most = whole, told, most
        self._task: Any = None
        self.count = 0

    def begin(self, attributes: dict[str, Any]) -> None:
        self._task = self._whole.subcontext(task_name="lbfgs-iter")
        self._task.call_on_fit_task_begin(**self._told, reconstruction_attributes=attributes)

    def end(self, attributes: dict[str, Any]) -> None:
        """The step that was begun has led to these attributes; the next one begins there."""
        if self.count == self._most:
            return
        self._task.call_on_fit_task_end(**self._told, reconstruction_attributes=attributes)
        self.count += 1
        self.begin(attributes)

    def close(self) -> None:
        self._task.call_on_fit_task_end(**self._told)
