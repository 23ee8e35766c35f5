"""The same examples in every run: a failure that is found stays found, and a pass can be relied on."""

from hypothesis import settings

settings.register_profile("repeatable", derandomize=True)
settings.load_profile("repeatable")
