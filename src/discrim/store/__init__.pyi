from discrim.store.files import load as load
from discrim.store.files import save as save
