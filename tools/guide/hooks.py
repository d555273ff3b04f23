"""Hooks of mkdocs that add generated pages, figures and sources to the guide.

A link from a page to a file outside of docs/ leads to a copy of that file, as text.
"""

import os
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path, PurePosixPath

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

sys.path.insert(0, str(Path(__file__).parents[1]))

import figures
import notebooks
from blocks import blocks
from live_pages import alive, explorer
from webassembly import write

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
AT_THE_TOP = ("CONTRIBUTING.md", "CHANGELOG.md")
"""Pages outside of docs/."""
LINK = re.compile(r"(?P<before>\]\()(?P<target>[^)\s#]+)(?P<after>#[^)\s]*)?\)")
PICTURE = re.compile(r'<img [^>]*src="(?P<source>[^"]+)"[^>]*>')
CODE = re.compile(r"^```.*?^```$|`[^`\n]*`", re.MULTILINE | re.DOTALL)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated files."""
    made = {name: (ROOT / name).read_text(encoding="utf-8") for name in AT_THE_TOP}
    made |= _made()
    for name, content in made.items():
        files.append(File.generated(config, name, content=content))
    for name, picture in _pictures().items():
        files.append(File.generated(config, name, content=picture))
    sources = set()
    for file in files.documentation_pages():
        sources |= set(_sources(file.src_uri, file.content_string))
    for path in sorted(sources):
        content = path.read_text(encoding="utf-8")
        files.append(File.generated(config, _as_text(path), content=content))
    return files


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Make a click on a picture open it in full size, and pictures of live figures live."""
    del config, files
    opened = PICTURE.sub(r'<a class="picture" href="\g<source>">\g<0></a>', html)
    return alive(opened, page.file.src_uri) if _explorer() else opened


def on_post_build(config: MkDocsConfig) -> None:
    """Write the explorer, with the engine that live figures share."""
    write(_explorer(), Path(config.site_dir))


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Point links to files outside of docs/ at their copies."""
    del config, files
    here = page.file.src_uri
    kept: list[str] = []

    def keep(code: re.Match[str]) -> str:
        kept.append(code[0])
        return f"\0{len(kept) - 1}\0"

    def lead(link: re.Match[str]) -> str:
        path = _target(here, link["target"])
        if path is None:
            return link[0]
        # A notebook is a page of the site, which a checkout has as its source only.
        shown = path.with_suffix(".md") if path.suffix == ".ipynb" else path
        name = shown.relative_to(DOCS).as_posix() if _inside(path) else _as_text(path)
        if path.name in AT_THE_TOP and path.parent == ROOT:
            name = path.name
        target = os.path.relpath(name, PurePosixPath(here).parent)
        return f"{link['before']}{target}{link['after'] or ''})"

    bare = CODE.sub(keep, markdown)
    return re.sub(r"\0(\d+)\0", lambda number: kept[int(number[1])], LINK.sub(lead, bare))


@cache
def _made() -> dict[str, str]:
    """The generated pages, made once per build."""
    return {"not-run.md": "\n".join(_not_run()) + "\n"} | notebooks.pages()


@cache
def _explorer() -> dict[str, bytes]:
    """The files of the explorer; none if they cannot be built."""
    return explorer()


@cache
def _pictures() -> dict[str, str | bytes]:
    return figures.pictures() | notebooks.pictures()


def _sources(here: str, markdown: str) -> Iterator[Path]:
    """The files outside of docs/ that a page links to."""
    for link in LINK.finditer(CODE.sub("", markdown)):
        path = _target(here, link["target"])
        if path and not _inside(path) and path.name not in AT_THE_TOP:
            yield path


def _target(here: str, target: str) -> Path | None:
    """The file to which a link points, if it exists."""
    if ":" in target:
        return None
    folder = ROOT if here in AT_THE_TOP else (DOCS / here).parent
    path = Path(os.path.normpath(folder / target))
    return path if path.is_file() and path.is_relative_to(ROOT) else None


def _inside(path: Path) -> bool:
    return path.is_relative_to(DOCS)


def _as_text(path: Path) -> str:
    return f"source/{path.relative_to(ROOT).as_posix()}.txt"


def _not_run() -> Iterator[str]:
    yield "# Blocks that the tests do not run"
    yield ""
    yield "On this page you see which blocks of the guide are not tested, and why."
    yield "`tests/guide/test_guide.py` runs all others and compares their output."
    yield ""
    yield "| page | begins with | why it is not run |"
    yield "|---|---|---|"
    for page in sorted(DOCS.rglob("*.md")):
        name = page.relative_to(DOCS).as_posix()
        for block in blocks(page):
            if block.not_run:
                first = block.text.splitlines()[0].replace("|", "\\|")
                yield f"| [{name}]({name}) | `{first}` | {block.not_run} |"
