"""What others rely on: names, docstrings, and that torch is only loaded where it is needed."""

import inspect
import subprocess
import sys

import pytest

import rehead
from rehead import data, noise

# Adding a name here is adding a promise.
PUBLIC = [
    "Abstention",
    "LabelReport",
    "LayerEnsemble",
    "ReheadWarning",
    "RobustGaussianClassifier",
    "__version__",
    "abstention_threshold",
    "find_mislabelled",
    "predict_or_abstain",
    "score_labels",
    "typicality",
]
FUNCTIONS = [
    rehead.LayerEnsemble,
    rehead.RobustGaussianClassifier,
    rehead.abstention_threshold,
    rehead.find_mislabelled,
    rehead.predict_or_abstain,
    rehead.score_labels,
    rehead.typicality,
    noise.uniform,
    noise.flip,
    noise.transition,
    noise.semantic,
    noise.annotator,
    noise.part_dependent,
    noise.polynomial_margin,
    noise.open_set,
    data.load,
    data.outside_images,
]


def python(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)


def test_public_names_are_these_and_sorted():
    assert rehead.__all__ == sorted(PUBLIC)
    for name in PUBLIC:
        assert getattr(rehead, name) is not None
    assert set(PUBLIC) - set(dir(rehead)) == set()


def test_a_name_that_does_not_exist_is_an_attribute_error():
    with pytest.raises(AttributeError, match="nothing"):
        rehead.nothing  # noqa: B018


def test_subpackages_are_reached_from_the_package():
    code = "import rehead; print(rehead.noise.uniform, rehead.data.load)"
    assert "function uniform" in python(code).stdout


def test_version_is_that_of_the_installed_package():
    from importlib.metadata import version

    assert rehead.__version__ == version("rehead")


def test_everything_public_is_documented():
    for name in PUBLIC:
        if name != "__version__":
            assert (getattr(rehead, name).__doc__ or "").strip(), name


@pytest.mark.parametrize("thing", FUNCTIONS, ids=lambda thing: thing.__name__)
def test_docstrings_have_an_example(thing):
    # Whether it runs is checked by the doctests.
    doc = inspect.getdoc(thing)
    assert "Examples\n--------\n>>> " in doc


@pytest.mark.parametrize("cls", [rehead.RobustGaussianClassifier, rehead.LayerEnsemble])
def test_public_methods_have_docstrings(cls):
    for name, method in vars(cls).items():
        if not name.startswith("_") and callable(method):
            assert inspect.getdoc(method), name


@pytest.mark.parametrize("cls", [rehead.RobustGaussianClassifier, rehead.LayerEnsemble])
def test_every_parameter_is_documented(cls):
    parameters = inspect.getdoc(cls).split("Attributes\n---")[0]
    for name in inspect.signature(cls).parameters:
        assert name in parameters, name


@pytest.mark.parametrize("use", ["import rehead", "from rehead import *"])
def test_importing_rehead_does_not_import_torch(use):
    result = python(f"import sys\n{use}\nprint('torch' in sys.modules)")
    assert result.stdout.strip() == "False", result.stderr


def test_without_torch_rehead_works_and_rehead_torch_says_what_to_install():
    # (sys.modules["torch"] = None would do for us, but scipy trips over it.)
    code = """
import sys

class NoTorch:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "torch":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, NoTorch())
from rehead import RobustGaussianClassifier
RobustGaussianClassifier("sample").fit([[0.0], [1.0], [4.0], [5.0]], [0, 0, 1, 1])
print("works")
import rehead.torch
"""
    result = python(code)
    assert result.stdout == "works\n"
    assert 'pip install "rehead[torch]"' in result.stderr.splitlines()[-1]
