"""Styles, given axes, and what is missing."""

import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

import discrim
from discrim import plots
from discrim.errors import ParameterError


def luminance(colour):
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return float(np.dot([0.2126, 0.7152, 0.0722], linear))


@pytest.mark.parametrize("name", ["light", "dark"])
def test_every_colour_stands_out_from_the_background(name):
    from discrim.plots.style import LOOKS

    look = LOOKS[name]
    for colour in (look.ink, look.muted, *look.palette):
        pair = sorted([luminance(colour), luminance(look.face)])
        assert (pair[1] + 0.05) / (pair[0] + 0.05) >= 3.0, colour


def test_sixteen_classes_have_sixteen_pairs_of_colour_and_shape():
    from discrim.plots.style import LIGHT

    assert len({(LIGHT.colour(k), LIGHT.marker(k)) for k in range(16)}) == 16


def test_global_settings_of_matplotlib_stay_as_they_are(iris, lda):
    before = dict(mpl.rcParams)
    with plots.styled("dark"):
        plots.regions(lda, *iris, columns=(0, 1), others="hold")
    plots.pairs(*iris)
    assert dict(mpl.rcParams) == before


def test_a_style_holds_within_its_context_only(iris):
    with plots.styled("dark"):
        dark = plots.points(*iris, columns=(0, 1))
    light = plots.points(*iris, columns=(0, 1))
    assert luminance(dark.get_facecolor()) < 0.05
    assert luminance(light.get_facecolor()) == 1.0


def test_axes_that_are_given_are_drawn_on_and_given_back(iris):
    figure = Figure()
    ax = figure.subplots()
    assert plots.points(*iris, columns=(0, 1), ax=ax) is ax
    assert len(figure.axes) == 1


def test_a_dark_background_that_is_given_is_drawn_on_in_light_colours(iris):
    ax = Figure().subplots()
    ax.set_facecolor("black")
    plots.points(*iris, columns=(0, 1), ax=ax)
    assert luminance(ax.xaxis.label.get_color()) > 0.5


@pytest.mark.parametrize(("option", "text"), [({"style": "blue"}, "'light' or 'dark'"), ({"ax": 3}, "matplotlib Axes")])
def test_a_style_or_axes_that_are_none_are_refused(iris, option, text):
    with pytest.raises(ParameterError, match=text):
        plots.points(*iris, columns=(0, 1), **option)


def test_without_matplotlib_a_sentence_says_what_to_install():
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "import discrim\n"
        "assert 'regions' in dir(discrim.plots)\n"
        "try:\n    discrim.plots.regions\n"
        "except ImportError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == (
        "discrim.plots needs the package 'matplotlib'. Install it with: pip install 'discrim[plots]'\n"
    )


def test_labels_that_would_touch_are_moved_apart_and_keep_their_order():
    from discrim.plots.style import spread

    places = spread([0.5, 0.51, 0.2, 0.505], 0.1)
    assert np.diff(np.sort(places)).min() > 0.099
    assert np.argsort(places).tolist() == np.argsort([0.5, 0.51, 0.2, 0.505]).tolist()


def test_the_functions_are_those_of_the_stub():
    assert all(callable(getattr(plots, name)) for name in plots.__all__)
    assert discrim.plots is plots
