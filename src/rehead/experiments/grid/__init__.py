"""The accuracy grid: tasks and noises, and the page that its results make.

``tasks.py`` has the cells; ``noise.py``, ``encoders.py`` and ``sources.py`` what makes their
features; ``columns.py`` the ways to predict. ``summary.py`` reads results back, ``targets.py`` says
what they must reach, ``terminal.py``, ``page.py`` and ``plots.py`` show them.
``rehead.experiments.accuracy`` measures.
"""
