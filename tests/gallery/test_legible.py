"""Pictures on a telephone: no letter is too small where a picture is as wide as the screen."""

import pytest
from matplotlib.text import Text

from discrim.gallery import check, lectures
from discrim.gallery.item import Picture

ITEMS = {item.id: item for lecture in lectures() for item in lecture.items}
# Of every kind of arrangement one: single, side by side, four panels, six, a matrix, in space.
SHOWN = ("C2", "C4", "C5", "C10", "C16", "L4", "L15", "L19", "N6", "O8", "O23", "R11")
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
