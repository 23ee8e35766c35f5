"""The space shuttle's O-rings: ``python examples/orings.py``. Prints the fit as R would, and writes demo/orings.svg."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import discrim


def main() -> None:
    orings = discrim.datasets.load_challenger()
    X, y = orings.xy
    model = discrim.LogisticRegression(C=np.inf).fit(X, y)
    print(model.summary(), "\n")
    print(model.confint(method="profile"), "\n")
    grid = np.linspace(30.0, 85.0, 200)[:, None]
    eta = model.decision_function(grid)
    design = np.column_stack([np.ones(len(grid)), grid])
    error = np.sqrt(np.einsum("ij,jk,ik->i", design, model.vcov, design))
    low, high = (1 / (1 + np.exp(-(eta + z * error))) for z in (-1.96, 1.96))

    figure = Figure(figsize=(7, 4.2), layout="constrained")
    axes = figure.subplots()
    axes.fill_between(grid[:, 0], low, high, color="#1f6fb4", alpha=0.15, linewidth=0)
    axes.plot(grid, model.predict_proba(grid)[:, 1], color="#1f6fb4", linewidth=2)
    axes.plot(X[:, 0], y, "o", color="#333333", alpha=0.6, markersize=5)
    axes.axvline(31.0, color="#c0392b", linestyle=":")
    axes.annotate("the launch, 31 F", (31.6, 0.05), color="#c0392b")
    axes.set_xlabel("temperature at launch (F)")
    axes.set_ylabel("probability of damaged O-rings")
    axes.spines[["top", "right"]].set_visible(False)
    path = Path("demo/orings.svg")
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path)
    print(f"At 31 F: {model.predict_proba([[31.0]])[0, 1]:.4f}. The curve with its 95 % band: {path}")


if __name__ == "__main__":
    main()
