"""The pages lead somewhere: links, names, commands and options exist, and the site builds."""

import importlib
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import typer

import rehead
from rehead.cli import app

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [ROOT / f for f in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")] + sorted(
    page for page in DOCS.rglob("*.md") if "_build" not in page.parts
)
MODULES = ("", ".audit", ".data", ".gaussian", ".noise", ".scale", ".torch")
MODULES += (".torch.models", ".torch.training")
CLASSES = ("LabelReport", "LayerEnsemble", "RobustGaussianClassifier", "RobustHead")

each_page = pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))


def prose(page):
    """A page without its blocks of code."""
    return re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)


def anchors(page):
    """What a code host, and the site, call the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", prose(page), flags=re.MULTILINE)
    plain = [re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", h).replace("`", "") for h in headings]
    return {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in plain}


def links(page):
    """Targets of links to other places in this repository."""
    without_code = re.sub(r"`[^`\n]*\(\.\.\.\)[^`\n]*`", "", prose(page))  # `METHODS[name](...)`
    found = re.findall(r"\]\(([^)\s]+)\)", without_code)
    return [target for target in found if not re.match(r"[a-z]+:", target)]


def quoted(page):
    """What stands in backticks, in prose."""
    return re.findall(r"`([^`\n]+)`", prose(page))


@each_page
def test_links_lead_to_files_and_headings(page):
    for target in links(page):
        file, _, anchor = target.partition("#")
        to = (page.parent / file).resolve() if file else page
        assert to.exists(), f"{target} leads nowhere"
        if anchor:
            assert anchor in anchors(to), f"{target}: {to.name} has {sorted(anchors(to))}"


def test_every_page_is_reached_from_the_start():
    seen, todo = set(), [DOCS / "index.md"]
    while todo:
        page = todo.pop()
        if page in seen:
            continue
        seen.add(page)
        reached = [(page.parent / target.partition("#")[0]).resolve() for target in links(page)]
        todo += [to for to in reached if to.suffix == ".md" and DOCS in to.parents]
    assert set(PAGES[3:]) - seen == set()


def resolve(name):
    """What a dotted name means; fails if there is no such thing."""
    parts = name.split(".")
    for n in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:n]))
        except ModuleNotFoundError:
            continue
        for part in parts[n:]:
            found = getattr(found, part)
        return found
    raise AttributeError(name)


def has(cls, name):
    """Whether a class has something: as an attribute, or documented as set by ``fit``."""
    return hasattr(cls, name) or re.search(rf"\b{name}\b", cls.__doc__.split("Attributes\n")[-1])


@each_page
def test_names_in_backticks_exist(page):
    pytest.importorskip("torch")
    from rehead.torch import RobustHead

    for text in quoted(page):
        name = re.match(r"rehead(\.[A-Za-z_]\w*)+", text)
        if name:
            resolve(name.group())
        method = re.match(rf"({'|'.join(CLASSES)})\.([a-z]\w*)", text)
        if method:
            cls = RobustHead if method[1] == "RobustHead" else getattr(rehead, method[1])
            assert has(cls, method[2]), text
        attribute = re.match(r"report\.([a-z]\w*)", text)
        if attribute and attribute[1] != "html":
            assert has(rehead.LabelReport, attribute[1]), text
        attribute = re.match(r"head\.([a-z]\w*)", text)
        if attribute and attribute[1] != "safetensors":
            assert has(RobustHead, attribute[1]), text


def commands_of(page):
    """Command lines in blocks of code, and in backticks."""
    text = page.read_text(encoding="utf-8")
    typed = re.findall(r"^\$ (rehead .+)$", text, flags=re.MULTILINE)
    return typed + [q for q in quoted(page) if re.match(r"rehead [a-z]+( |$)", q)]


@each_page
def test_commands_and_options_exist(page):
    known = typer.main.get_command(app).commands
    for line in commands_of(page):
        # DESIGN and tables may list several commands at once: rehead demo, corrupt, train
        names = [name.strip() for name in line.removeprefix("rehead ").split(",")]
        words = shlex.split(names[0], comments=True)
        for name in [words[0], *names[1:]] if len(words) == 1 else words[:1]:
            assert name in known, line
        options = {option for p in known[words[0]].params for option in p.opts}
        for word in words[1:]:
            if re.match(r"--?[a-z]", word):
                assert word.split("=")[0] in options, f"{word} in: {line}"


def test_the_page_of_the_command_line_is_up_to_date():
    written = runpy.run_path(str(DOCS / "command_line.py"))["page"]()
    page = (DOCS / "reference" / "command-line.md").read_text(encoding="utf-8")
    assert page == written, "run: python docs/command_line.py"


@pytest.mark.parametrize("module", MODULES)
def test_the_api_page_lists_every_public_name(module):
    if module.startswith(".torch"):
        pytest.importorskip("torch")
    text = (DOCS / "reference" / "api.md").read_text(encoding="utf-8")
    of_module = re.search(rf"^## rehead{re.escape(module)}\n(.*?)(?=^## |\Z)", text, re.M | re.S)
    listed = set(re.findall(r"\b\w+\b", of_module.group(1)))
    public = set(importlib.import_module(f"rehead{module}").__all__) - {"__version__"}
    elsewhere = set(rehead.__all__) if module else set()
    assert public - elsewhere - listed == set()


def test_the_site_builds_without_a_warning(tmp_path):
    pytest.importorskip("sphinx")
    for folder in ("docs", "examples"):
        ignore = shutil.ignore_patterns("_build", "generated", "__pycache__")
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=ignore)
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-n", "-q", "-b", "html"]
    built = subprocess.run(
        [*command, str(tmp_path / "docs"), str(tmp_path / "html")], capture_output=True, text=True
    )
    assert built.returncode == 0, built.stderr
    assert (tmp_path / "html" / "reference" / "generated" / "rehead.LayerEnsemble.html").exists()
