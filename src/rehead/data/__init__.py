"""Data sets by name, split into train, validation and test, with ids and class names."""

from rehead.data.digits import Split, Splits, load

__all__ = ["Split", "Splits", "load"]
