"""Families of hostile clusters, one module each. A module has `cases(scale)`, which yields Case (cluster.py)."""
import importlib
import pkgutil


def all_cases(scale, only=None):
    """(family, case) of every family, in the order of their names."""
    for module in sorted(pkgutil.iter_modules(__path__), key=lambda m: m.name):
        if only is None or module.name in only:
            for case in importlib.import_module(f"{__name__}.{module.name}").cases(scale):
                yield module.name, case
