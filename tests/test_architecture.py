"""The shape of the source: what import-linter (`make test`) does not check."""

import ast
import re
from importlib import import_module
from pathlib import Path

import pytest

import rehead
from rehead.gaussian.settings import settings_table

SOURCE = Path(rehead.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))
ROOT = Path(__file__).parents[1]
NAMED_TUPLE = {"_replace", "_asdict", "_fields", "_make"}
"""Public by documentation, though they begin with an underscore."""
PRIVATE_MODULES = {
    "_columns",
    "_features",
    "_labels",
    "_progress",
    "_typing",
    "_validation",
    "_values",
    "_warnings",
}
"""Private to the package, not to a module of it."""


def tree_of(file):
    return ast.parse(file.read_text(encoding="utf-8"))


def is_private(name):
    return name.startswith("_") and not name.startswith("__")


def private_reads(file):
    """Private names that a module reads of others: attributes, and what it imports."""
    tree = tree_of(file)
    own = {n.name for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            own.add(node.attr)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and is_private(node.attr):
            of_self = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
            if not of_self and node.attr not in own | NAMED_TUPLE:
                yield node.attr
        elif isinstance(node, ast.ImportFrom):
            yield from (
                alias.name
                for alias in node.names
                if is_private(alias.name) and alias.name not in PRIVATE_MODULES
            )


def functions(file):
    return [
        n for n in ast.walk(tree_of(file)) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]


def parameters(function):
    a = function.args
    every = [*a.posonlyargs, *a.args, *a.kwonlyargs]
    return [p.arg for p in every if p.arg not in ("self", "cls")]


def body_lines(function):
    """Lines of a function without its signature and docstring."""
    body = function.body[1:] if ast.get_docstring(function) else function.body
    return function.end_lineno - body[0].lineno + 1 if body else 0


@pytest.mark.parametrize("file", FILES, ids=lambda f: str(f.relative_to(SOURCE)))
def test_no_module_reads_the_private_names_of_another(file):
    assert list(private_reads(file)) == []


@pytest.mark.parametrize("file", FILES, ids=lambda f: str(f.relative_to(SOURCE)))
def test_files_are_short(file):
    assert len(file.read_text(encoding="utf-8").splitlines()) <= 400


def test_functions_are_short():
    sizes = sorted(body_lines(f) for file in FILES for f in functions(file))
    assert sizes[int(0.9 * len(sizes))] <= 20
    assert sizes[-1] <= 60


def test_functions_have_few_parameters():
    """But for constructors of scikit-learn estimators, which store settings, fits, and commands."""
    long = {
        f"{file.relative_to(SOURCE).as_posix()}:{f.name}"
        for file in FILES
        for f in functions(file)
        if len(parameters(f)) > 7 and SOURCE / "cli" not in file.parents
    }
    constructors = {"classifier.py:__init__", "ensemble/estimator.py:__init__"}
    assert long == constructors | {"ensemble/estimator.py:fit", "torch/head.py:fit"}


def test_functions_of_the_ensemble_have_five_parameters_at_most():
    """But for what scikit-learn users call."""
    shell = SOURCE / "ensemble" / "estimator.py"
    long = {
        f"{file.name}:{f.name}"
        for file in FILES
        if SOURCE / "ensemble" in file.parents and file != shell
        for f in functions(file)
        if len(parameters(f)) > 5
    }
    assert long == set()


def module_name(file):
    parts = file.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@pytest.mark.parametrize("file", FILES, ids=lambda f: str(f.relative_to(SOURCE)))
def test_no_name_of_a_package_hides_this_module(file):
    package, _, name = module_name(file).rpartition(".")
    module = import_module(module_name(file))
    assert not package or getattr(import_module(package), name) is module


WITHOUT_TESTS = {
    "cli/arguments.py": "declarations; every command shows them in its help",
    "data/record.py": "a value",
    "gaussian/fit.py": "a value, and what fills it",
    "torch/models/options.py": "shared by the networks, whose tests use it",
    "torch/training/methods/cross_entropy.py": "one line",
    "torch/training/state.py": "a value",
}
"""Modules that have no test file of their name, and why."""


def test_tests_mirror_the_source():
    missing = {
        file.relative_to(SOURCE).as_posix()
        for file in FILES
        if file.name != "__init__.py"
        and not (
            ROOT / "tests" / file.relative_to(SOURCE).parent / f"test_{file.stem.lstrip('_')}.py"
        ).exists()
    }
    assert missing == set(WITHOUT_TESTS)


def test_the_settings_of_the_default_are_printed_in_its_docs():
    text = (ROOT / "docs" / "auto.md").read_text(encoding="utf-8")
    assert settings_table() in text


def test_the_map_of_the_tree_is_true():
    """Every file or folder that CONTRIBUTING names is there, and every room is named."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    tree = re.search(r"```\nsrc/rehead/\n(.*?)```", text, flags=re.DOTALL).group(1)
    named = {line.split()[0].rstrip("/") for line in tree.splitlines() if line.startswith("  ")}
    rooms = {f.name for f in SOURCE.iterdir() if f.is_dir() and f.name != "__pycache__"}
    rooms |= {f.name for f in SOURCE.glob("*.py")}
    assert named == rooms
