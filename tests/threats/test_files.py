"""What captures, logs and recorded series of strangers can do to who reads them."""

import gzip
import json
import struct
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from peak_memory import peak
from prerequisites import require_tool
from program import execute, run_here
from rtolab import Error
from rtolab.diagnosis import diagnose
from rtolab.paths import Stated, read_path, write_scenario
from rtolab.paths import text as texts

LOG = Path(__file__).parents[1] / "qlogs" / "quic-go-reordering.server.sqlog.gz"
STALL = Path(__file__).parents[1] / "captures" / "stall-3s-none-frto-off.sender.pcapng.gz"
INJECTION = 'x"\nseed = 7\n[[flow]]\nname = "evil"\n#'
"""A name of a file that would add keys to a scenario."""
LITTLE_MB = 40


@pytest.fixture(scope="module")
def plain() -> int:
    """The memory that an empty capture takes, in bytes."""
    return peak([struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)])


def block(kind: int, length: int) -> bytes:
    """The beginning of a block of pcapng that claims a length."""
    return struct.pack("<II", kind, length)


def bombs() -> Iterator[tuple[str, bytes]]:
    header = struct.pack("<IIIHHq", 0x0A0D0D0A, 28, 0x1A2B3C4D, 1, 0, -1) + struct.pack("<I", 28)
    yield "a block of 4 GB", header + block(6, 0xFFFF_FFFC) + bytes(1000)
    yield "an option of 64 kB in a block of 32 B", header + block(1, 32) + b"\xff" * 24
    pcap = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
    yield "a packet of 4 GB", pcap + struct.pack("<IIII", 0, 0, 0xFFFF_FFFF, 0xFFFF_FFFF)
    yield "zeros in zeros", gzip.compress(gzip.compress(bytes(100 << 20)))
    yield "nested arrays", b'{"qlog_version":"0.3","traces":' + b"[" * 1_000_000
    endless = b'\x1e{"qlog_version":"0.3","title":"' + b"x" * (20 << 20)
    yield "a text without an end", gzip.compress(endless)


@pytest.mark.slow
@pytest.mark.parametrize("what", [name for name, _ in bombs()])
def test_a_capture_that_claims_more_than_it_has_takes_little_memory(plain: int, what: str) -> None:
    content = dict(bombs())[what]
    assert (peak([content]) - plain) / 1e6 < LITTLE_MB


@pytest.mark.slow
def test_zeros_packed_by_zstd_take_little_memory(plain: int, tmp_path: Path) -> None:
    tool = require_tool("zstd", "zstd")
    zeros = tmp_path / "zeros"
    with zeros.open("wb") as file:
        file.truncate(1 << 30)
    assert execute(tool, "-q", "--long=27", "-19", zeros).returncode == 0
    packed = zeros.with_name("zeros.zst").read_bytes()
    assert len(packed) < 200_000
    assert (peak([packed]) - plain) / 1e6 < LITTLE_MB + 130, "the window of zstd is 128 MB"


def test_a_packed_series_is_read_up_to_its_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(texts, "LARGEST", 1000)
    path = tmp_path / "trace.gz"
    path.write_bytes(gzip.compress(b"1\n" * 10_000_000))
    with pytest.raises(Error, match=r"found more than 0 MiB; expected a recorded series"):
        texts.read_text(path)


@pytest.mark.parametrize("name", [INJECTION, "\x7f\x1b]0;x\x07", "\\u0022", "'''", "\u2028\x85x"])
def test_the_name_of_a_series_adds_nothing_to_a_scenario(tmp_path: Path, name: str) -> None:
    files = [tmp_path / f"{name}.{end}".replace("/", "") for end in ("up", "down")]
    for file in files:
        file.write_text("0\n10\n20\n30\n", encoding="utf-8")
    out = tmp_path / "path.toml"
    write_scenario(read_path("mahimahi", files, None), out, Stated(delay="10 ms"))
    written = out.read_text(encoding="utf-8")
    found = tomllib.loads(written)
    assert set(found) == {"title", "duration", "link", "flow"}
    assert [one["name"] for one in found["flow"]] == ["download"]
    assert not any(letter in written for letter in "\x1b\x7f\x07")


def test_the_name_of_a_capture_adds_nothing_to_its_scenario(tmp_path: Path) -> None:
    capture = tmp_path / f"{INJECTION.replace('/', '')}.pcapng"
    capture.write_bytes(gzip.decompress(STALL.read_bytes()))
    out = tmp_path / "path.toml"
    done = run_here("diagnose", capture, "--what-if", "--scenario-out", out)
    assert done.returncode == 0, done.stderr
    found = tomllib.loads(out.read_text(encoding="utf-8"))
    assert "seed" not in found
    assert "evil" not in json.dumps(found["flow"])


def test_the_name_of_a_capture_is_text_in_its_page(tmp_path: Path) -> None:
    capture = tmp_path / "<img src=x onerror=alert(1)>.pcapng"
    capture.write_bytes(gzip.decompress(STALL.read_bytes()))
    page = tmp_path / "page.html"
    assert run_here("diagnose", capture, "--html", page).returncode == 0
    written = page.read_text(encoding="utf-8")
    assert "<img src=x" not in written
    assert "&lt;img src=x" in written


def test_no_payload_of_a_capture_is_in_its_diagnosis(tmp_path: Path) -> None:
    marker = b"a-password-of-a-user"
    content = bytearray(gzip.decompress(STALL.read_bytes()))
    # Segments of this transfer carry zeros, and captures of them 54 bytes and more.
    at = content.find(bytes(200))
    assert at > 0
    content[at + 20 : at + 20 + len(marker)] = marker
    capture = tmp_path / "marked.pcapng"
    capture.write_bytes(content)
    for option in ([], ["--json"], ["--what-if"]):
        assert marker.decode() not in run_here("diagnose", capture, *option).stdout
    assert marker.decode() not in repr(diagnose(capture).document)
