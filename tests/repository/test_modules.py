"""The modules and the files of each crate use each other in one direction.

A module is what `lib.rs` declares, a file or a folder. Who uses whom is read from paths that begin
with `crate::`, and of files also from those with `super::` and of their own modules. A re-export is
no use: a file that uses its name uses the file that declares it. Tests of a module do not count.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

CRATES = sorted(path.parent for path in Path(__file__).parents[2].glob("crates/*/src"))

ModulePath = tuple[str, ...]
"""A path within a crate: its modules, and perhaps a name in the last of them."""

USE = re.compile(r"^\s*(pub(?:\([\w: ]*\))? )?use ([\w:{},\s*]+);", re.MULTILINE)


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


def each_path(names: str) -> Iterator[ModulePath]:
    """The paths that a `use` names: `a::{b, c::d}` is `a::b` and `a::c::d`."""
    before, brace, rest = names.partition("{")
    if not brace:
        yield tuple(names.split(" as ", 1)[0].strip().split("::"))
        return
    for item in re.findall(r"(?:[^,{}]|\{(?:[^{}]|\{[^{}]*\})*\})+", rest[: rest.rindex("}")]):
        if item.strip():
            yield from each_path(before.strip() + item.strip())


def sources(crate: Path) -> dict[ModulePath, str]:
    """The code of each module, without comments and tests."""
    found: dict[ModulePath, str] = {}
    for file in (crate / "src").rglob("*.rs"):
        parts = file.relative_to(crate / "src").with_suffix("").parts
        if "tests" not in parts:
            code = file.read_text().split("#[cfg(test)]\nmod tests {")[0]
            module = parts[:-1] if parts[-1] in {"mod", "lib", "main"} else parts
            found[module] = re.sub(r"//.*", "", code)
    return found


def absolute(path: ModulePath, module: ModulePath, code: dict[ModulePath, str]) -> ModulePath:
    """The path as `module` writes it, from the root; empty if it leaves the crate."""
    ups = path.count("super")
    match path[0]:
        case "crate":
            return path[1:]
        case "super" | "self":
            return module[: len(module) - ups] + path[max(ups, 1) :]
    return module + path if (*module, path[0]) in code else ()


def uses_of_files(crate: Path) -> dict[str, set[str]]:
    """The files that each file of the crate uses, named by their modules."""
    code = sources(crate)
    used: dict[ModulePath, set[ModulePath]] = defaultdict(set)
    exported: dict[ModulePath, ModulePath] = {}
    for module, text in code.items():
        for names in re.findall(r"\b\w+(?:::\w+)+", USE.sub("", text)):
            used[module].add(absolute(tuple(names.split("::")), module, code))
        for public, names in USE.findall(text):
            paths = {absolute(path, module, code) for path in each_path(names)} - {()}
            exported |= {(*module, path[-1]): path for path in paths if public}
            used[module] |= paths if not public else set()

    def file(path: ModulePath) -> str:
        for end in range(len(path), 0, -1):
            if path[:end] in code:
                return "/".join(path[:end])
            if exported.get(path[:end], path[:end]) != path[:end]:
                return file(exported[path[:end]] + path[end:])
        return ""

    return {
        "/".join(module): {file(path) for path in used[module]} - {"", "/".join(module)}
        for module in code
    }


def circles(reached: dict[str, set[str]]) -> list[str]:
    """The groups each of which uses all others of it, directly or not."""
    for via, beyond in reached.items():
        for others in reached.values():
            if via in others:
                others.update(beyond)
    groups = {
        frozenset(other for other in others if module in reached[other])
        for module, others in reached.items()
    }
    return sorted(" ".join(sorted(group)) for group in groups if group)


@pytest.mark.parametrize("crate", CRATES, ids=lambda crate: crate.name)
def test_modules_use_each_other_in_one_direction(crate: Path) -> None:
    assert circles(uses(crate)) == []


@pytest.mark.parametrize("crate", CRATES, ids=lambda crate: crate.name)
def test_files_use_each_other_in_one_direction(crate: Path) -> None:
    assert circles(uses_of_files(crate)) == []
