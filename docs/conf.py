"""Sphinx configuration; `make docs` uses it."""

import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from command_page import write_page

import vwkde

project = "vwkde"
author = "The vwkde developers"
copyright = author
version = release = vwkde.__version__

# Formulas are plain Unicode: they need no MathJax, and are readable in the source files too.
extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build"]
nitpicky = True
default_role = "literal"
templates_path = ["_templates"]

html_theme = "pydata_sphinx_theme"
html_title = f"vwkde {release}"
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_show_sourcelink = False
html_copy_source = False
html_sidebars = {"getting-started": []}
html_theme_options = {
    "logo": {"text": "vwkde"},
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": True,
    "navigation_with_keys": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "header_links_before_dropdown": 5,
}

myst_heading_anchors = 3
myst_links_external_new_tab = False

autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "examples",
    "filename_pattern": r".*\.py",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_signature": False,
    "remove_config_comments": True,
    "abort_on_example_error": True,
    "capture_repr": ("_repr_html_", "__repr__"),
    "image_srcset": ["2x"],
    "write_computation_times": False,
}

PAGES_OF_OUTSIDE_FILES = {
    r"CONTRIBUTING\.md": "contributing.md",
    r"CHANGELOG\.md": "changelog.md",
    r"examples/(\w+)\.py": r"examples/\1.rst",
    r"examples": "examples/index.rst",
}
"""Patterns of files outside this folder, and the page that shows each of them here."""


def setup(app: Any) -> None:
    """Write the page of the command line; adapt links to files outside this folder, and pictures with dark versions."""
    write_page(Path(app.srcdir) / "reference" / "command-line.md")
    app.connect("source-read", _redirect_links)
    app.connect("source-read", _show_dark_pictures)


def _redirect_links(_: Any, page: str, source: list[str]) -> None:
    outside = "../" * (page.count("/") + 1)
    for target, inside in PAGES_OF_OUTSIDE_FILES.items():
        source[0] = re.sub(rf"\]\({re.escape(outside)}{target}\)", rf"](/{inside})", source[0])


def _show_dark_pictures(app: Any, page: str, source: list[str]) -> None:
    """On dark pages, show the dark version of pictures that have one beside them."""

    def both(found: re.Match[str]) -> str:
        words, path = found.groups()
        dark = path.replace(".png", "-dark.png")
        if not (Path(app.srcdir) / page).parent.joinpath(dark).exists():
            return found[0]
        each = {"only-light": path, "only-dark": dark}.items()
        return "\n\n".join(f"```{{image}} {name}\n:alt: {words}\n:class: {scheme}\n```" for scheme, name in each)

    source[0] = re.sub(r"^!\[(.*)\]\((\S+\.png)\)$", both, source[0], flags=re.MULTILINE)
