"""Pictures on a telephone: no letter is too small where a picture is as wide as the screen."""

import pytest
from matplotlib.text import Text

from discrim.gallery import check, lectures
from discrim.gallery.item import Picture

ITEMS = {item.id: item for lecture in lectures() for item in lecture.items}
# Of every kind of arrangement one: single, side by side, four panels, six, a matrix, in space.
SHOWN = ("C2", "C4", "C5", "C10", "C16", "L4", "L15", "L19", "N6", "O8", "O23", "R11")
# Their labels are placed while they are drawn.
IN_SPACE = {"N6", "L19"}
SCREEN, LEAST = 384, 8.0


@pytest.mark.parametrize("name", SHOWN)
def test_letters_are_high_enough_at_390_pixels(name):
    pictures = [shown for shown in check(ITEMS[name]).shown if isinstance(shown, Picture)]
    assert pictures
    for picture in pictures:
        figure = picture.figure
        shrunk = min(1.0, SCREEN / (96 * figure.get_figwidth()))
        sizes = [text.get_fontsize() for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()]
        assert min(sizes) * 96 / 72 * shrunk >= LEAST


@pytest.mark.parametrize("name", [name for name in SHOWN if name not in IN_SPACE])
def test_no_text_leaves_its_picture(name):
    for shown in check(ITEMS[name]).shown:
        if isinstance(shown, Picture):
            shown.figure.draw_without_rendering()
            for ax in shown.figure.axes:
                texts = [ax.xaxis.label, ax.yaxis.label, *ax.texts, *(ax.get_legend().texts if ax.get_legend() else ())]
                for text in texts:
                    box = text.get_window_extent() if text.get_text().strip() else None
                    assert box is None or _within(box, shown.figure.bbox), text.get_text()


def _within(box, page):
    return min(box.x0, box.y0) >= -1 and box.x1 <= page.x1 + 1 and box.y1 <= page.y1 + 1
