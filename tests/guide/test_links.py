"""Links of the guide in a checkout, where nothing is generated."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import hooks

DOCS = Path(__file__).parents[2] / "docs"


def test_a_checkout_lacks_only_generated_figures_and_the_page_of_blocks_not_run() -> None:
    missing = set()
    for page in DOCS.rglob("*.md"):
        for link in hooks.LINK.finditer(hooks.CODE.sub("", page.read_text(encoding="utf-8"))):
            target = page.parent / link["target"]
            if ":" not in link["target"] and not target.exists():
                missing.add(target.resolve().relative_to(DOCS).as_posix())
    assert {name for name in missing if not name.startswith("made/")} == {"not-run.md"}
    assert "`make docs`" in (DOCS / "index.md").read_text(encoding="utf-8")


def test_a_link_to_a_notebook_leads_to_its_page_on_the_site() -> None:
    page: Any = SimpleNamespace(file=SimpleNamespace(src_uri="index.md"))
    nothing: Any = None
    text = "[one](notebooks/compare-senders.ipynb#a) [two](tutorial.md)"
    made = hooks.on_page_markdown(text, page, nothing, nothing)
    assert made == "[one](notebooks/compare-senders.md#a) [two](tutorial.md)"
