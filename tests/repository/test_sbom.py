"""The bill of materials of a wheel."""

import base64
import hashlib
import json
import subprocess
import sys
import tomllib
import zipfile
from importlib.machinery import SourceFileLoader
from importlib.util import find_spec, module_from_spec, spec_from_loader
from pathlib import Path
from typing import Any

import pytest

from prerequisites import lack, require_tool

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def sbom() -> Any:
    loader = SourceFileLoader("sbom", str(ROOT / "tools" / "sbom"))
    spec = spec_from_loader("sbom", loader)
    assert spec
    module = sys.modules["sbom"] = module_from_spec(spec)
    loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def crates(sbom: Any) -> list[Any]:
    require_tool("cargo", "cargo")
    return list(sbom.crates())


def test_it_has_the_crates_of_the_extension_and_no_others(crates: list[Any]) -> None:
    names = {one.name for one in crates}
    assert {"rtolab-py", "rtolab-tcp", "rtolab-diagnose", "pyo3", "zstd"} <= names
    # What tests, builds and macros need is not in the result.
    assert not names & {"proptest", "criterion", "insta", "cc", "syn", "serde_derive"}


def test_every_crate_of_others_has_its_licence_and_its_hash(crates: list[Any]) -> None:
    for one in crates:
        assert one.licence, one
        assert bool(one.sha256) == (not one.name.startswith("rtolab")), one


def test_its_licences_are_those_that_are_allowed(crates: list[Any]) -> None:
    allowed = set(tomllib.loads((ROOT / "deny.toml").read_text())["licenses"]["allow"])
    for one in crates:
        # One of several suffices; with AND, each must be allowed.
        for part in one.licence.split(" AND "):
            assert {word.strip("() ") for word in part.split(" OR ")} & allowed, one


def test_the_same_parts_have_the_same_bill(sbom: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    if find_spec("cyclonedx") is None:
        lack("cyclonedx is missing; install it:  pip install cyclonedx-python-lib")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    parts = [
        sbom.Part("cargo", "zstd", "0.13.3", "MIT", "ab" * 32),
        sbom.Part("pypi", "numpy", "2.4.0", "BSD License"),
    ]
    text = sbom.bill("1.2.3", parts)
    assert text == sbom.bill("1.2.3", parts)
    found = json.loads(text)
    assert (found["bomFormat"], found["specVersion"]) == ("CycloneDX", "1.6")
    assert found["metadata"]["timestamp"].startswith("2023-11-14")
    urls = [one["purl"] for one in found["components"]]
    assert urls == ["pkg:pypi/numpy@2.4.0", "pkg:cargo/zstd@0.13.3"]
    assert found["components"][1]["hashes"][0]["content"] == "ab" * 32
    assert text != sbom.bill("1.2.3", parts[:1])


def test_a_wheel_names_no_folder_of_its_build(tmp_path: Path) -> None:
    wheel = tmp_path / "one-1-py3-none-any.whl"
    bill, record = "one-1.dist-info/sboms/one.cyclonedx.json", "one-1.dist-info/RECORD"
    entries = {
        "one.py": "at = '/build/here'\n",
        bill: '{"bom-ref": "path+file:///build/here/crates/one#1"}',
        record: f"one.py,sha256=x,19\n{bill},sha256=y,50\n{record},,\n",
    }
    time = (2026, 11, 28, 1, 2, 4)
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, text in entries.items():
            archive.writestr(zipfile.ZipInfo(name, time), text, zipfile.ZIP_DEFLATED)
    tool = ROOT / "tools" / "relative-sbom"
    subprocess.run([sys.executable, tool, wheel, "/build/here"], check=True)
    with zipfile.ZipFile(wheel) as archive:
        changed = {name: archive.read(name) for name in archive.namelist()}
        assert {about.date_time for about in archive.infolist()} == {time}
    assert list(changed) == list(entries)
    assert changed["one.py"].decode() == entries["one.py"]
    assert changed[bill] == b'{"bom-ref": "path+file:///rtolab/crates/one#1"}'
    digest = base64.urlsafe_b64encode(hashlib.sha256(changed[bill]).digest()).decode().rstrip("=")
    assert changed[record].decode().splitlines() == [
        "one.py,sha256=x,19",
        f"{bill},sha256={digest},{len(changed[bill])}",
        f"{record},,",
    ]
