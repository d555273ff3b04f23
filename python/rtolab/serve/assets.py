"""The files of the page, from the package."""

from functools import cache
from pathlib import Path

FOLDER = Path(__file__).with_name("static")
STYLE_SHEETS = ("figure.css", "style.css")
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


@cache
def assets() -> dict[str, tuple[bytes, str]]:
    """Every file of the page with its media type, by name."""
    return {
        path.name: (path.read_bytes(), TYPES[path.suffix])
        for path in sorted(FOLDER.iterdir())
        if path.suffix in TYPES
    }


def style() -> str:
    """The style sheets of the page as one."""
    return "".join(assets()[name][0].decode() for name in STYLE_SHEETS)
