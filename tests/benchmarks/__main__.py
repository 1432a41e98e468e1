"""`python -m tests.benchmarks [name …]` runs the benchmarks beside this file, or the named ones."""

import importlib
import pkgutil
import sys

import tests.benchmarks


def main() -> None:
    names = sys.argv[1:] or sorted(
        module.name
        for module in pkgutil.iter_modules(tests.benchmarks.__path__)
        if not module.name.startswith("_")
    )
    for name in names:
        module = importlib.import_module(f"tests.benchmarks.{name}")
        if hasattr(module, "run"):
            print(f"== {name}")
            module.run()


main()
