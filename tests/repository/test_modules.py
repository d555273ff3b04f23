"""The modules of each crate use each other in one direction.

A module is what `lib.rs` declares, a file or a folder. Who uses whom is read from paths that begin
with `crate::`; tests of a module do not count.
"""

import re
from pathlib import Path

import pytest

CRATES = sorted(path.parent for path in Path(__file__).parents[2].glob("crates/*/src"))

NOT_YET: dict[str, list[str]] = {
    "link": ["pauses priority rates"],
    "scenario": ["read schema written"],
    "sim": ["attend duplicates end flow judging measure sim timeouts trace truth"],
    "tcp": ["config congestion event recovery reduction response rtt sender spurious"],
}
"""Known circles, by crate. Remove those that are resolved."""


def uses(crate: Path) -> dict[str, set[str]]:
    """The modules that each module of the crate uses."""
    sources = crate / "src"
    files = [path for path in sources.rglob("*.rs") if "tests" not in path.with_suffix("").parts]
    modules = {path.relative_to(sources).with_suffix("").parts[0] for path in files}
    modules -= {"lib", "main"}
    found: dict[str, set[str]] = {module: set() for module in modules}
    for path in files:
        module = path.relative_to(sources).with_suffix("").parts[0]
        code = path.read_text().split("#[cfg(test)]")[0]
        for names in re.findall(r"\bcrate::(\w+|\{[^;]*?\};)", re.sub(r"//.*", "", code)):
            used = set(re.findall(r"(?:^|[{,])\s*(\w+)", names)) | {names}
            found.get(module, set()).update((used & modules) - {module})
    return found


def circles(crate: Path) -> list[str]:
    """The groups of modules each of which uses all others, directly or not."""
    reached = uses(crate)
    for via in reached:
        for module, others in reached.items():
            if via in others:
                reached[module] = others | reached[via]
    groups = {
        frozenset(other for other in others if module in reached[other])
        for module, others in reached.items()
    }
    return sorted(" ".join(sorted(group)) for group in groups if group)


@pytest.mark.parametrize("crate", CRATES, ids=lambda crate: crate.name)
def test_modules_use_each_other_in_one_direction(crate: Path) -> None:
    assert circles(crate) == NOT_YET.get(crate.name, [])
