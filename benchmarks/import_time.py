"""Print the milliseconds that ``import discrim`` takes once ``sklearn.base`` is imported."""

import importlib
import time

importlib.import_module("sklearn.base")
start = time.perf_counter()
importlib.import_module("discrim")
print(1e3 * (time.perf_counter() - start))
