"""The site: ``make docs`` builds it from the Markdown pages here and the docstrings of the source.

Pages stay plain Markdown. The navigation is made from them: on a page that is a *door*, every list
item that begins with a link to a page is an entry of its table of contents.
"""

import re

from sphinx.application import Sphinx

import rehead

project = "rehead"
author = "rehead developers"
copyright = author  # noqa: A001
version = release = rehead.__version__

extensions = ["myst_parser", "numpydoc", "sphinx.ext.autodoc", "sphinx.ext.autosummary"]
exclude_patterns = ["_build", "_templates"]
templates_path = ["_templates"]
nitpicky = True
# Docstrings name their own helpers, which have no pages: only public names do.
nitpick_ignore_regex = [
    ("py:func", r"(distances_without_self|rehead\.torch\.pooling\.pool_output)"),
    ("py:mod", r"rehead\.audit\.kinds"),
]

myst_heading_anchors = 3
autosummary_generate = True
autodoc_member_order = "bysource"
# Docstrings say the types in words; signatures with annotations fill a screen.
autodoc_typehints = "none"
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False

html_theme = "pydata_sphinx_theme"
html_title = "rehead"
html_static_path = ["_static"]
html_css_files = ["rehead.css"]
html_show_sourcelink = False
html_sidebars = {page: [] for page in ("tutorial", "which", "troubleshooting")}
html_theme_options = {
    "header_links_before_dropdown": 6,
    "navbar_persistent": ["search-button"],
    "navigation_with_keys": False,
    "show_nav_level": 1,
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
}

DOORS = {"index", "how-to/index", "explanation/index", "reference/index"}
ENTRY = re.compile(r"^- \[([^]]+)\]\(([^)#]+)\.md\)", re.MULTILINE)
EXAMPLE = re.compile(r"^(```python\n.*?)\n+```$", re.MULTILINE | re.DOTALL)


def prepare(app: Sphinx, docname: str, source: list[str]) -> None:
    """Give a door the hidden table of contents that its list of links stands for.

    Examples lose the empty line in the end, which doctest needs and a reader does not.
    """
    source[0] = EXAMPLE.sub(r"\1\n```", source[0])
    if docname in DOORS:
        entries = "\n".join(f"{title} <{page}>" for title, page in ENTRY.findall(source[0]))
        source[0] += f"\n\n```{{toctree}}\n:hidden:\n\n{entries}\n```\n"


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("source-read", prepare)
