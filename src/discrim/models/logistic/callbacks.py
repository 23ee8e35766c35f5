"""scikit-learn's callbacks, from its version 1.9 on: what they see of a logistic fit, step by step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
from sklearn.utils.metaestimators import available_if

from discrim.errors import warn
from discrim.families.first_look import look
from discrim.families.logistic.fit import Watch
from discrim.families.logistic.objective import Coordinates, user_coefficients
from discrim.families.recipe import Passes, Solved
from discrim.models.logistic.training import Training
from discrim.typing import Floats

try:
    from sklearn.callback import CallbackSupportMixin
except ImportError:  # an older scikit-learn, whose estimators take no callbacks
    CallbackSupportMixin = object


class CallbackSupport(CallbackSupportMixin):  # type: ignore[misc]
    """``set_callbacks``, which says for which solvers single steps are reported."""

    def callback_context(self, *, max_subtasks: int) -> Any:
        return self._init_callback_context(max_subtasks=max_subtasks)

    @available_if(lambda _: CallbackSupportMixin is not object)  # type: ignore[untyped-decorator]
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
        return super().set_callbacks(*callbacks)  # type: ignore[no-any-return]


@contextmanager
def reported(
    model: Any, rows: Passes, columns: Mapping[str, Any], given: Training, *, penalised: bool
) -> Iterator[Steps]:
    """The fit as tasks of the callbacks of ``model``, which must have some: one for all, and one for each step.

    A task begins where the step before has ended, so that the last one is empty, as in scikit-learn.
    """
    from sklearn.callback._callback_support import callback_management_context

    classes = look(rows, 1).classes if rows.shape.classes is None else rows.shape.classes
    metadata = None if given.sample_weight is None else {"sample_weight": given.sample_weight}
    common = {"estimator": model, "X": given.X, "y": given.y, "metadata": metadata}
    most, seen = max(model.max_iter, 1), model.solver in ("auto", "lbfgs")
    with callback_management_context(model):
        whole = model.callback_context(max_subtasks=most + 1)
        whole.call_on_fit_task_begin(**common)
        steps = Steps(whole, common, {**columns, "classes_": classes}, most, penalised=penalised, seen=seen)
        steps.begin(np.zeros((len(classes) if steps.softmax else 1, rows.shape.width + 1)))
        yield steps
        steps.close()
        whole.call_on_fit_task_end(**common, reconstruction_attributes={})


class Steps:
    """The tasks of single steps, at most ``most`` and the empty one; only those of some solvers are ``seen``."""

    def __init__(
        self, whole: Any, common: dict[str, Any], known: dict[str, Any], most: int, *, penalised: bool, seen: bool
    ) -> None:
        self._whole, self._common, self._known, self._most = whole, common, known, most
        self._penalised, self._seen = penalised, seen
        self._task: Any = None
        self._count = 0
        self.softmax = len(known["classes_"]) > 2

    @property
    def watch(self) -> Watch | None:
        """What the solver calls after every step."""
        return self._step if self._seen else None

    def begin(self, user: Floats) -> None:
        self._task = self._whole.subcontext(task_name="lbfgs-iter")
        self._task.call_on_fit_task_begin(**self._common, reconstruction_attributes=self._attributes(user))

    def ended(self, solved: Solved) -> None:
        """What the solver did after its last step, such as a proof that classes overlap, counts as steps too."""
        found = solved.attributes
        while self._seen and self._count < max(int(found["n_iter_"][0]), 1):
            self._end(np.column_stack([found["intercept_"], found["coef_"]]))

    def close(self) -> None:
        self._task.call_on_fit_task_end(**self._common)

    def _step(self, theta: Floats, coordinates: Coordinates) -> None:
        self._end(user_coefficients(theta, coordinates, softmax=self.softmax, penalised=self._penalised))

    def _end(self, user: Floats) -> None:
        """The step that was begun has led to these coefficients; the next one begins there."""
        if self._count < self._most:
            self._task.call_on_fit_task_end(**self._common, reconstruction_attributes=self._attributes(user))
            self._count += 1
            self.begin(user)

    def _attributes(self, user: Floats) -> dict[str, Any]:
        return {**self._known, "coef_": user[:, 1:].copy(), "intercept_": user[:, 0].copy()}
