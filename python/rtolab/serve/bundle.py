"""The modules of the page as one script, for pages of one file."""

import re
from collections.abc import Iterator, Mapping

from rtolab.serve.assets import assets

IMPORT = re.compile(r'^import \{ ([^}]*) \} from "\./([\w-]+\.js)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export ((?:async )?(?:class|const|function)) (\w+)", re.MULTILINE)


def bundle(entry: str, others: Mapping[str, str] | None = None) -> str:
    """The module `entry` and all that it imports, as one module without imports.

    Each module becomes a function that returns its exports, so that names of one module do not
    clash with those of another. `others` has the text of modules beside those of the page, by name.
    """
    texts = {name: text.decode() for name, (text, _) in assets().items()} | dict(others or {})
    parts = [_wrapped(name, texts[name]) for name in _in_order(entry, texts, set())]
    return "\n".join(["", "const modules = {};", *parts, ""])


def _in_order(name: str, texts: Mapping[str, str], seen: set[str]) -> Iterator[str]:
    """The modules that a module imports, each after those that it imports itself."""
    if name in seen:
        return
    seen.add(name)
    for _, imported in IMPORT.findall(texts[name]):
        yield from _in_order(imported, texts, seen)
    yield name


def _wrapped(name: str, text: str) -> str:
    exports = ", ".join(found for _, found in EXPORT.findall(text))
    body = EXPORT.sub(r"\1 \2", IMPORT.sub(r'const { \1 } = modules["\2"];\n', text))
    return f'modules["{name}"] = await (async () => {{\n{body}return {{ {exports} }};\n}})();'
