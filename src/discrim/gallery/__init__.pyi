from discrim.gallery.build import Built as Built
from discrim.gallery.build import build as build
from discrim.gallery.build import check as check
from discrim.gallery.item import Item as Item
from discrim.gallery.lectures import Lecture as Lecture
from discrim.gallery.lectures import lectures as lectures
