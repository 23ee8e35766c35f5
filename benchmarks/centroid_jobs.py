"""Rows for nearest centroids, and for the whole path of thresholds of nearest shrunken centroids."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import NearestCentroid
from threadpoolctl import threadpool_limits

from benchmarks.job import Contestant, Data, Job, Turn, gaussian_classes, ours

READ = "one read of X"
# scikit-learn takes no threshold of zero.
THRESHOLDS = np.linspace(0.1, 3.0, 30)


def centroid_jobs() -> list[Job]:
    five, genes = gaussian_classes(100_000, 50, 5), gaussian_classes(63, 2308, 4)
    return [
        Job(
            "centroid-fit",
            "NearestCentroid fit 100,000 x 50, K=5",
            five,
            Contestant("discrim", lambda data: _fits(ours("NearestCentroid"), data)),
            _peers("sklearn", lambda data: _fits(NearestCentroid, data)),
            None,
            READ,
        ),
        *(
            Job(
                f"centroid-{verb.replace('_', '-')}",
                f"NearestCentroid {verb} 100,000 x 50, K=5",
                five,
                Contestant("discrim", lambda data, verb=verb: _calls(ours("NearestCentroid"), verb, data)),
                _peers("sklearn", partial(_calls, NearestCentroid, verb)),
                None,
                READ,
            )
            for verb in ("predict", "predict_proba")
        ),
        _path_job("centroid-path", "10,000 x 50, K=5", gaussian_classes(10_000, 50, 5)),
        _path_job("centroid-genes", "63 x 2,308, K=4", genes),
    ]


def _path_job(name: str, size: str, make: Any) -> Job:
    return Job(
        name,
        f"NearestCentroid, 30 thresholds by 10 folds, {size}",
        make,
        Contestant("discrim", _our_path),
        _peers("GridSearchCV sklearn", _their_path, once=True),
        None,
        READ,
        note="peers timed once",
    )


def _peers(name: str, prepare: Callable[[Data], Turn], *, once: bool = False) -> tuple[Contestant, ...]:
    """scikit-learn as it comes, and in one thread: where others use the cores too, its threads wait for each other."""

    def alone(data: Data) -> Turn:
        turn = prepare(data)

        def limited() -> Any:
            with threadpool_limits(1):
                return turn()

        return limited

    return Contestant(name, prepare, once=once), Contestant(f"{name}, one thread", alone, once=once)


def _fits(model: Any, data: Data) -> Turn:
    return lambda: model().fit(data.X, data.y)


def _calls(model: Any, verb: str, data: Data) -> Turn:
    """A method of a model that was fitted, outside the clock, on the first rows."""
    method = getattr(model().fit(data.X[:20_000], data.y[:20_000]), verb)
    return lambda: method(data.X)


def _our_path(data: Data) -> Turn:
    model = ours("NearestCentroid")
    return lambda: model(shrink_threshold="cv", thresholds=THRESHOLDS).fit(data.X, data.y)


def _their_path(data: Data) -> Turn:
    grid = {"shrink_threshold": THRESHOLDS}
    return lambda: GridSearchCV(NearestCentroid(), grid, cv=10).fit(data.X, data.y)
