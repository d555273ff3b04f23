"""Recipes of stacks, and the counts of losses from their logs."""

import tarfile
from dataclasses import replace
from pathlib import Path

import pytest

import program
import rtolab
from guests import require_kernel
from rtolab.conform import Suite, conform, quic, recipes, suite
from rtolab.conform.run import LOGS

QLOGS = Path(__file__).parents[1] / "qlogs"
RECIPE = """title = "ours 1.0"
build = "echo built > made"
server = "exec {stack}/serve"
client = "{stack}/get '{server}' {bytes}"
set = { kernel = { tun = true } }
"""


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def written(folder: Path, text: str = RECIPE) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / recipes.FILE).write_text(text)
    return folder


@pytest.mark.parametrize("name", sorted(recipes.known()))
def test_every_own_recipe_is_valid_and_complete(name: str) -> None:
    recipe = recipes.find(name)
    # A recipe of an older version has that version in its name.
    assert recipe.title.startswith(name.replace("-0", " 0"))
    assert "{server}" in recipe.client
    has_no_log = {"mptcp", "s2n-quic", "sctp"}
    assert LOGS in recipe.server or recipe.set == {"kernel.tun": True} or name in has_no_log
    assert recipe.programs


def test_a_recipe_is_built_once_and_again_when_it_changes(tmp_path: Path) -> None:
    folder, said = written(tmp_path / "ours"), list[str]()
    stack = recipes.build(recipes.find(str(folder)), said.append)
    built = Path(stack.server.removeprefix("exec ")).parent
    assert (built / "made").read_text() == "built\n"
    assert (stack.name, stack.set) == ("ours 1.0", {"kernel.tun": True})
    assert stack.client == [f"{built}/get", "{server}", "{bytes}"]
    assert recipes.build(recipes.find(str(folder / recipes.FILE)), said.append) == stack
    assert said == ["building ours 1.0"]
    (folder / "source").write_text("changed")
    other = recipes.build(recipes.find(str(folder)), said.append)
    assert other.server != stack.server
    # What an older recipe built is not kept.
    assert len([path for path in recipes.cache().iterdir() if path.is_dir()]) == 1


def test_a_failed_build_shows_its_last_lines_and_is_repeated(tmp_path: Path) -> None:
    failing = "echo no; echo '  indented'; exit 3"
    folder = written(tmp_path / "ours", RECIPE.replace("echo built > made", failing))
    for _ in range(2):
        with pytest.raises(
            rtolab.Error, match=r"exit code 3; its last lines:\n  no\n    indented$"
        ):
            recipes.build(recipes.find(str(folder)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (RECIPE.replace("server =", "sever ="), "found the key sever; expected one of"),
        (RECIPE.replace('"ours 1.0"', "1"), "title: found 1; expected a string"),
        (RECIPE.replace("client =", "# client ="), "client is missing"),
        (RECIPE.replace("'{server}'", "'{server}"), "client: No closing quotation"),
        ("title", "Expected '=' after a key"),
        (RECIPE + "[programs]\nx = 1", "programs.x: found 1; expected what installs it"),
    ],
)
def test_a_wrong_recipe_is_explained(text: str, message: str, tmp_path: Path) -> None:
    folder = written(tmp_path / "ours", text)
    with pytest.raises(rtolab.Error) as raised:
        recipes.find(str(folder))
    assert message in str(raised.value)
    assert str(folder / recipes.FILE) in str(raised.value)


def test_the_kernel_is_a_stack_without_a_recipe() -> None:
    stack = recipes.build(recipes.find("linux"))
    assert (stack.name, stack.server, list(stack.client)) == ("", "", [])


def test_an_unknown_stack_and_a_missing_program_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert program.call(monkeypatch, "conform", "--stack", "quin") == 2
    assert "such as quinn, " in capsys.readouterr().err
    needs = f'{RECIPE}[programs]\nno-such-program = "the package x"\n'
    folder = str(written(tmp_path / "ours", needs))
    assert program.call(monkeypatch, "conform", "--stack", folder) == 2
    assert "ours 1.0 needs other programs: the package x" in capsys.readouterr().err
    words = ("--stack", folder, "--server", "x", "--", "y")
    assert program.call(monkeypatch, "conform", *words) == 2
    assert "--stack has its own name, server and client" in capsys.readouterr().err


def test_losses_are_counted_from_the_logs_of_both_ends(tmp_path: Path) -> None:
    import gzip  # noqa: PLC0415

    for end in ("server", "client"):
        log = QLOGS / f"quic-go-reordering.{end}.sqlog.gz"
        (tmp_path / end).mkdir()
        (tmp_path / end / f"{end}.sqlog").write_bytes(gzip.decompress(log.read_bytes()))
        with tarfile.open(tmp_path / f"{end}.tar", "w") as archive:
            archive.add(tmp_path / end, ".")
        for path in (tmp_path / end).iterdir():
            path.unlink()
        (tmp_path / end).rmdir()
    found = quic.counts(quic.unpack(tmp_path))
    assert found == quic.LossCounts(16, 16, 3, 3, 0, 0)


def test_logs_of_another_connection_are_not_counted(tmp_path: Path) -> None:
    for end in ("server", "client"):
        (tmp_path / f"{end}.tar").write_bytes(b"")
    folders = quic.unpack(tmp_path)
    assert quic.counts(folders) is None
    (folders["server"] / "one.qlog").write_text("{}")
    (folders["client"] / "two.qlog").write_text("{}")
    assert quic.counts(folders) is None


@pytest.mark.parametrize("name", ["mptcp", "sctp"])
def test_unneeded_copies_of_the_kernels_other_protocols_are_counted(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME")
    guest = require_kernel()
    stack = replace(recipes.build(recipes.find(name)), kernel=guest)
    [late] = [one for one in suite(Suite.FIFTY, 1) if one.id == "reordering-60ms"]
    [score] = conform(stack, [late])
    assert score.ended == "recovered"
    assert 1500 <= score.unneeded_bytes < score.sent_bytes / 2
