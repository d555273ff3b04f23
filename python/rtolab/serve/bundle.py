"""The modules of the page as one script, for pages of one file."""

import re
from collections.abc import Iterator

from rtolab.serve.assets import assets

IMPORT = re.compile(r'^import \{ ([^}]*) \} from "\./([\w-]+\.js)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export ((?:async )?(?:class|const|function)) (\w+)", re.MULTILINE)


def bundle(entry: str) -> str:
    """The module `entry` and all that it imports, as one module without imports.

    Each module becomes a function that returns its exports, so that names of one module do not
    clash with those of another.
    """
    parts = [_wrapped(name) for name in _in_order(entry, set())]
    return "\n".join(["", "const modules = {};", *parts, ""])


def _in_order(name: str, seen: set[str]) -> Iterator[str]:
    """The modules that a module imports, each after those that it imports itself."""
    if name in seen:
        return
    seen.add(name)
    for _, imported in IMPORT.findall(_text(name)):
        yield from _in_order(imported, seen)
    yield name


def _wrapped(name: str) -> str:
    text = _text(name)
    exports = ", ".join(found for _, found in EXPORT.findall(text))
    body = EXPORT.sub(r"\1 \2", IMPORT.sub(r'const { \1 } = modules["\2"];\n', text))
    return f'modules["{name}"] = await (async () => {{\n{body}return {{ {exports} }};\n}})();'


def _text(name: str) -> str:
    return assets()[name][0].decode()
