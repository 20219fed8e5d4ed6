"""Experiments: settings in, results out."""
