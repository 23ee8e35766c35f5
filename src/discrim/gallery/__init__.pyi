from discrim.gallery.building import Built as Built
from discrim.gallery.building import build as build
from discrim.gallery.building import check as check
from discrim.gallery.contents import Lecture as Lecture
from discrim.gallery.contents import lectures as lectures
from discrim.gallery.item import Item as Item
