"""The page of the guide that says what rtolab was checked against, and what is still wrong.

    python tools/guide/checked.py

writes it to `docs/checked.md`. Its figures are those of other pages and of files of the tests.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from textwrap import fill

from recorded import ROOT, missed_checks, number, numbers, sentence, shares, table, text

PAGE = ROOT / "docs" / "checked.md"


@dataclass(frozen=True)
class Check:
    """A comparison of rtolab with something that it did not make.

    Attributes:
        name: what was compared.
        against: with what, and its version.
        date: when the figures were recorded.
        command: what measures them again.
        page: where they are.
        score: the result.
        wrong: what is still wrong, a sentence.
    """

    name: str
    against: str
    date: str
    command: str
    page: str
    score: Callable[[], str]
    wrong: Callable[[], str]


def _papers() -> str:
    *_, last = table("docs/papers/index.md", "paper", "before", "after", "ours")
    before, after, ours = (shares([cell]) for cell in last[1:])
    return (
        f"{before[0]} of {before[1]} checks whose assumptions and bounds were chosen before the "
        f"result was seen pass, {after[0]} of {after[1]} chosen after; and {ours[0]} of {ours[1]} "
        "of our own"
    )


def _papers_wrong() -> str:
    counts = missed_checks()
    listed = ", ".join(
        f"{paper} {' and '.join(f'{count} ({verdict})' for verdict, count in found.items())}"
        for paper, found in counts.items()
    )
    return f"Checks that are missed, those of our own studies among them: {listed}."


def _ns2() -> str:
    rows = table("crates/sim/tests/it/oracle.rs", "trace", "sender", "events, all in order")
    events = sum(number(row[2]) for row in rows)
    return f"{len(rows)} of {len(rows)} traces: {events:,} events in the same microsecond"


def _counts() -> str:
    rows = table("docs/performance.md", "case", "", "set-up s")
    worst = 0.0
    for ours, theirs in pairwise(rows):
        if ours[1] == "rtolab" and theirs[1].startswith("ns-2"):
            here, there = number(ours[4]), number(theirs[4])
            worst = max(worst, abs(here - there) / there)
    return f"data packets of three networks differ by at most {worst:.1%}".replace("%", " %")


def _links() -> str:
    return _agreeing(table("docs/agreement.md", "link", "seeds", "time, s"))


def _agreeing(rows: list[list[str]]) -> str:
    agree = sum(row[-1] == "agree" for row in rows)
    return f"{agree} of {len(rows)} links agree in their medians"


def _bbr() -> str:
    return _agreeing(_bbr_rows())


def _bbr_rows() -> list[list[str]]:
    return table("docs/agreement.md", "link", "seeds", "time, s", after="## BBR")


def _bbr_wrong() -> str:
    differ = [f"*{row[0]}*" for row in _bbr_rows() if row[-1] != "agree"]
    return (
        f"Beyond the tolerance: {', '.join(differ)}. With 100 seeds of *5 % lost, and a stall* the "
        "engine has fewer retransmissions than the guests; we do not know the cause."
    )


def _random() -> str:
    paths, same, low, high = sentence(
        "docs/agreement.md",
        r"Of (\d+) paths,? (\d+) [^(|]*\(95 % interval: ([\d.]+) to ([\d.]+) %\)",
    )
    return (
        f"{int(same):,} of {int(paths):,} paths: the same packets, each within 10 ms "
        f"(95 %: {low} to {high} %)"
    )


def _random_wrong() -> str:
    rows = table("docs/agreement.md", "first difference", "paths")
    most = "; ".join(f"{row[0]} ({row[1]})" for row in rows[:3])
    return (
        f"{sum(int(row[1]) for row in rows)} paths differ, in {len(rows)} ways. The most frequent "
        f"ones: {most}. The causes of most are unknown."
    )


def _virtual() -> str:
    rows = table("docs/virtual.md", "scenario", "score, real", "score, virtual")
    within = sum(abs(float(row[5])) < 1 for row in rows)
    return f"{within} of {len(rows)} times differ by less than 1 %"


def _virtual_wrong() -> str:
    rows = table("docs/virtual.md", "scenario", "score, real", "score, virtual")
    far = [f"{row[0]} ({row[5]} %)" for row in rows if abs(float(row[5])) >= 1]
    return f"Times that differ by 1 % or more: {', '.join(far)}."


def _clocks() -> str:
    rows = _clock_rows()
    agree = sum(row[-1] == "agree" for row in rows)
    furthest = max((float(row[3]) for row in rows), key=abs)
    return f"{agree} of {len(rows)} scenarios agree; times differ by up to {furthest:.0f} %"


def _clock_rows() -> list[list[str]]:
    return table("docs/virtual.md", "link", "seeds", "time, s", "%")


def _clocks_wrong() -> str:
    differ = [f"{row[0]} ({row[3]} %)" for row in _clock_rows() if row[-1] != "agree"]
    return (
        f"Those that differ, with their times: {', '.join(differ)}. The versions of Linux and the "
        "clocks are not separated; one of the runs in real time is in doubt."
    )


def _aioquic() -> str:
    rows = {row[0]: row[1:] for row in table("docs/virtual.md", "", "virtual clock")}
    virtual, real = rows["mean score"]
    (far, _) = rows["scenarios whose scores differ by more than 3"]
    return (
        f"mean score {virtual} on the virtual clock, {real} in real time; {far} of 50 scores "
        "differ by more than 3"
    )


def _our_scripts() -> str:
    scripts = sorted((ROOT / "tests" / "packetdrill").glob("*.pkt"))
    passed = [one for one in scripts if "// Certified on Linux " in one.read_text("utf-8")]
    return f"{len(passed)} of {len(scripts)} scripts, each certified on one of these kernels first"


_GOOGLES = r"Of all (\d+) scripts there, (\d+) pass, (\d+) need kernel features, and (\d+) fail"


def _passing(every: object, passed: object, failed: object) -> str:
    return f"{passed} of {every} pass, {failed} fail, the others cannot run"


def _googles() -> str:
    every, passed, _, failed = sentence("docs/packetdrill.md", _GOOGLES)
    return _passing(every, passed, failed)


def _googles_wrong() -> str:
    _, _, lacking, failed = sentence("docs/packetdrill.md", _GOOGLES)
    too = sum(
        "fails on Linux 6.18" in row[1]
        for row in table("docs/packetdrill.md", "script that fails", "what differs")
    )
    return (
        f"{failed} scripts fail, {too} of them on Linux 6.18, too. {lacking} need features of a "
        "kernel that the adapter lacks, such as Fast Open and zero copy."
    )


_KERNELS = r"has (\d+) scripts\. (\d+) pass unedited, (\d+) need features .*? and (\d+) fail"


def _kernels() -> str:
    every, passed, _, failed = sentence("docs/packetdrill.md", _KERNELS)
    return _passing(every, passed, failed)


def _kernels_wrong() -> str:
    _, _, lacking, failed = sentence("docs/packetdrill.md", _KERNELS)
    return (
        f"{failed} scripts need path MTU discovery. {lacking} need features that the engine or the "
        "adapter lacks, most of them AccECN or Fast Open."
    )


def _freebsd_counts() -> list[int]:
    rows = table("docs/packetdrill.md", "folder", "passed", "failed", "skipped", "of")
    return [sum(number(row[at]) for row in rows) for at in (1, 2, 3, 4)]


def _freebsd() -> str:
    passed, failed, _, every = _freebsd_counts()
    return _passing(every, passed, failed)


def _freebsd_wrong() -> str:
    _, failed, skipped, _ = _freebsd_counts()
    return (
        f"{failed} scripts fail; the page has the reasons. {skipped} need the packetdrill that "
        "they are written for, which cannot load the adapter."
    )


def _captures() -> str:
    rows = [row for row in _accuracy() if row[0] != "receiver"]
    right, said = shares([row[4] for row in rows])
    found, there = shares([row[5] for row in rows])
    return f"{right:,} of {said:,} verdicts right; {found:,} of {there:,} cases found"


def _accuracy() -> list[list[str]]:
    return table("docs/diagnose.md", "evidence", "", "precision, first half")


def _captures_wrong() -> str:
    (scored,) = sentence("docs/diagnose.md", r"the test half \((\d+)\) scores them")
    wrong = [
        f"{row[1]} by {row[0]} ({row[4]} right)"
        for row in _accuracy()
        if len(set(numbers(row[4]))) > 1
    ]
    return (
        f"Wrong verdicts in the test half, the {scored} captures that set no threshold: "
        f"{', '.join(wrong)}. On a path with a queue that other flows share, do not rely on the "
        "class `spurious`."
    )


def _analysers() -> str:
    (head,) = sentence("docs/diagnose.md", r"\| (at the sender: [^|]+?) \| retransmissions found")
    every, unneeded = numbers(head)
    rows = table("docs/diagnose.md", head)
    found = {row[0]: number(row[1]) for row in rows}
    called = {row[0]: row[2] for row in rows}
    tshark, rtolab = (number(called[name]) for name in ("tshark", "rtolab diagnose"))
    return (
        f"of {every:,} retransmissions at the sender tshark finds {found['tshark']:,}, rtolab "
        f"{found['rtolab diagnose']:,}; of {unneeded:,} unneeded ones by ground truth tshark marks "
        f"{tshark:,}, rtolab {rtolab:,}"
    )


def _logs() -> str:
    rows = table("docs/quic.md", "stack", "odd seeds: precision, recall")
    precise = shares([row[2].split(", ")[0] for row in rows])
    found = shares([row[2].split(", ")[1] for row in rows])
    return (
        f"{precise[0]:,} of {precise[1]:,} spurious losses rightly so called; {found[0]:,} of "
        f"{found[1]:,} found, of {len(rows)} stacks"
    )


def _predictions() -> str:
    *_, last = table("docs/diagnose.md", "links", "pairs", "predicted within 2: real")
    pairs, real, virtual = last[1:4]
    return (
        f"unneeded retransmissions predicted within 2: {real} of {pairs} transfers in real time, "
        f"{virtual} of {pairs} on the virtual clock"
    )


def _watch() -> str:
    rows = table("docs/watch.md", "link", "spurious timeouts found", "false positives")
    found, there = shares([row[1] for row in rows])
    false = sum(number(row[2]) for row in rows)
    return f"{found:,} of {there:,} spurious timeouts found, {false} false positives"


def _tune() -> str:
    return "{} of {} cells within 10 %".format(
        *sentence("docs/tune.md", r"The goal of 10 % is met in (\d+) of (\d+) cells")
    )


def _cases() -> str:
    count = sum(line.startswith("- **T-") for line in text("docs/cases.md").splitlines())
    return f"{count} cases, each with a test that bears its name"


def _fuzzing() -> str:
    rows = table("docs/reliability.md", "target", "time", "executions")
    executions = sum(number(row[2]) for row in rows)
    return f"{len(rows)} targets, {executions:,} executions; no known input fails"


def _mutants() -> str:
    rows = table("docs/reliability.md", "crate", "sample", "mutants")
    tried, noticed = (sum(number(row[at]) for row in rows) for at in (2, 5))
    return f"{noticed} of {tried} mutants noticed by tests in Rust or Python"


def _python_mutants() -> str:
    rows = table("docs/reliability.md", "module", "mutants", "run by a test", "noticed")
    [(tried, noticed)] = [(row[1], row[3]) for row in rows if row[0] == "all"]
    return f"{noticed} of {tried} mutants noticed by fast tests"


def _processors() -> str:
    (runs,) = sentence("docs/reliability.md", r"compares all records: (\d+) runs were identical")
    return f"{runs} of {runs} runs identical"


LINUX_18 = "Linux 6.18, HZ 250"
LINUX_12 = "Linux 6.12, HZ 1000"

CHECKS = (
    Check(
        "claims of five papers",
        "2001 to 2007, as printed",
        "2026-11-29",
        "rtolab reproduce",
        "papers/index.md",
        _papers,
        _papers_wrong,
    ),
    Check(
        "transfers, event by event",
        "traces of ns-2.35",
        "2026-11-21",
        "cargo test -p rtolab-sim --test it oracle",
        "decisions.md",
        _ns2,
        lambda: "Two traces have no fast recovery to compare; no trace is of a random loss.",
    ),
    Check(
        "packets delivered in large networks",
        "ns-2.35 in three networks",
        "2026-11-20",
        "make bench-peers",
        "performance.md",
        _counts,
        lambda: (
            "With ns-3 only speed is compared, and that its packet count stays below the link's "
            "capacity."
        ),
    ),
    Check(
        "the profile `linux` on fixed links",
        LINUX_12,
        "2026-11-28",
        "rtolab compare --all --virtual",
        "agreement.md",
        _links,
        lambda: (
            "Only medians are compared. In *ARQ out of order* engine and guest differ in single "
            "runs, in some of them for reasons that we do not know."
        ),
    ),
    Check(
        "the profile `linux` with BBR on these links",
        LINUX_12,
        "2026-11-28",
        "rtolab compare --all --virtual --set kernel.congestion=bbr",
        "agreement.md",
        _bbr,
        _bbr_wrong,
    ),
    Check(
        "the profile `linux` on random paths",
        LINUX_12,
        "2026-11-28",
        "tools/kernel-differences 10000 --seed 7000000 --kernel 6.12",
        "agreement.md",
        _random,
        _random_wrong,
    ),
    Check(
        "guests on the virtual clock, 50 scenarios",
        "guests (Linux 6.12, HZ 1000) and Linux 6.18 (HZ 250) in real time",
        "2026-11-28",
        "rtolab conform --virtual --beside real/conform.json",
        "virtual.md",
        _virtual,
        _virtual_wrong,
    ),
    Check(
        "guests on the virtual clock, 30 scenarios",
        "guests (Linux 6.12, HZ 1000) and Linux 6.18 (HZ 250) in real time",
        "2026-11-24",
        "sudo tools/clock-differences --real real.json --kernel 6.12",
        "virtual.md",
        _clocks,
        _clocks_wrong,
    ),
    Check(
        "`aioquic` on both clocks, 50 scenarios",
        "the same programs in real time",
        "2026-11-23",
        "rtolab conform --virtual --name aioquic --server COMMAND -- COMMAND",
        "virtual.md",
        _aioquic,
        lambda: (
            "The scores of the four lost tails differ most. A second measurement in real time gave "
            "another score of `tail-1`; we do not know why."
        ),
    ),
    Check(
        "our packetdrill scripts",
        f"{LINUX_18} and Linux 6.12, HZ 1000",
        "2026-11-28",
        "make packetdrill PACKETDRILL=path",
        "packetdrill.md",
        _our_scripts,
        lambda: "They are about loss recovery of the sender; none is about a receiver.",
    ),
    Check(
        "Google's packetdrill scripts",
        "the scripts of `gtests/net/tcp`, commit 2c4001c",
        "2026-11-27",
        "make packetdrill PACKETDRILL=path SCRIPTS=path",
        "packetdrill.md",
        _googles,
        _googles_wrong,
    ),
    Check(
        "the kernel's packetdrill scripts",
        "the selftests of Linux 7.3",
        "2026-11-28",
        "make packetdrill PACKETDRILL=path SCRIPTS=path",
        "packetdrill.md",
        _kernels,
        _kernels_wrong,
    ),
    Check(
        "FreeBSD's packetdrill scripts, by the profile `freebsd-14`",
        "four folders of its test suite",
        "2026-11-28",
        "tools/packetdrill --sender freebsd-14 --tool path FOLDER",
        "packetdrill.md",
        _freebsd,
        _freebsd_wrong,
    ),
    Check(
        "`diagnose`, captures at the sender",
        f"the test half of 420 captures with known truth, simulated and of {LINUX_18}",
        "2026-11-24",
        "make captures",
        "diagnose.md",
        _captures,
        _captures_wrong,
    ),
    Check(
        "`diagnose` beside other analysers",
        "tshark and tcptrace",
        "2026-11-22",
        "make captures",
        "diagnose.md",
        _analysers,
        lambda: "tcptrace finds more retransmissions; it has no class for unneeded ones.",
    ),
    Check(
        "`diagnose`, QUIC logs",
        "aioquic, ngtcp2, quic-go, noq",
        "2026-11-24",
        "tools/qlogs FOLDER 1-24; tools/score_qlogs.py FOLDER",
        "quic.md",
        _logs,
        lambda: "Losses near the end of a log have no verdict.",
    ),
    Check(
        "`diagnose --what-if`, retransmissions",
        f"{LINUX_18} and {LINUX_12}",
        "2026-11-24",
        "tools/pairs real; tools/pairs virtual --virtual --kernel 6.12",
        "diagnose.md",
        _predictions,
        lambda: "The missed pairs have no timestamps; reordering is not inferred without SACK.",
    ),
    Check(
        "`watch`",
        LINUX_18,
        "2026-11-24",
        "tools/score_watch.py --seconds 25",
        "watch.md",
        _watch,
        lambda: "Without timestamps it finds too few spurious timeouts in three of four runs.",
    ),
    Check(
        "`tune`, timeouts of other minimums",
        "the simulator",
        "2026-11-27",
        "tools/score_tune.py paths --runs 2",
        "tune.md",
        _tune,
        lambda: "Minimums below the delayed ACK of 40 ms: it predicts too few.",
    ),
    Check(
        "worked cases of RFCs and papers",
        "their texts",
        "2026-11-24",
        "cargo test --workspace",
        "cases.md",
        _cases,
        lambda: "Cases that need an interpretation are listed on the page, with ours.",
    ),
    Check(
        "hostile input",
        "fuzzing",
        "2026-11-28",
        "make soak",
        "reliability.md",
        _fuzzing,
        lambda: "Each target ran for an hour or two, not for days.",
    ),
    Check(
        "the tests of `tcp`, `link`, `scenario` and `diagnose`",
        "mutants of their sources",
        "2026-11-29",
        "tools/mutants",
        "reliability.md",
        _mutants,
        lambda: (
            "The goal of 95 % lies in the intervals of `tcp` and `scenario`, and above those of "
            "`link` and `diagnose`."
        ),
    ),
    Check(
        "the tests of Python modules that hold logic",
        "mutants of their sources, by mutmut",
        "2026-11-29",
        "tools/mutants python",
        "reliability.md",
        _python_mutants,
        lambda: "The goal of 95 % is missed.",
    ),
    Check(
        "the same results elsewhere",
        "aarch64, in qemu",
        "2026-11-28",
        "tools/aarch64",
        "reliability.md",
        _processors,
        lambda: "No machine with another order of bytes was tried.",
    ),
)

NOT_CHECKED = (
    (
        "The sender profiles of FreeBSD, gVisor and smoltcp, and the historical ones, rest on "
        "sources and on papers. No running system is compared with them packet by packet."
    ),
    "No kernel but Linux 6.1, 6.12, 6.18 and 7.3 was compared, and none on real radio links.",
    (
        "The captures with known truth come from the simulator, and from kernels over emulated "
        "links. Captures of the open Internet are not among them: nobody knows their truth."
    ),
    "ns-3 is not compared event by event.",
    "The tests of the other crates and Python modules: no mutants of their sources were counted.",
)


def page() -> str:
    """The page as Markdown."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield "# What was checked, and what is wrong"
    yield ""
    yield from _paragraph(
        "After this page you can say what rtolab was compared with, how well it did, and which "
        "differences remain, and you can repeat each comparison. Begin here if you distrust us."
    )
    yield from _paragraph(
        "`python tools/guide/checked.py` writes this page from the tables of the pages that it "
        "links and from files of the tests. A test fails if it is out of date. The date is that of "
        "the figures."
    )
    yield from _table(
        ("what", "compared with", "result", "figures of"),
        [(f"[{one.name}]({one.page})", one.against, one.score(), one.date) for one in CHECKS],
    )
    yield "## What is still wrong"
    yield ""
    for one in CHECKS:
        yield from _item(f"**{_capital(one.name)}.** {one.wrong()}")
    yield ""
    yield "## What nobody has checked"
    yield ""
    for what in NOT_CHECKED:
        yield from _item(what)
    yield ""
    yield "## Repeat it"
    yield ""
    yield from _paragraph(
        "The linked pages say what each command needs: some need root, a built kernel, another "
        "program, or hours."
    )
    yield from _table(
        ("what", "command"), [(one.name, f"`{one.command}`") for one in CHECKS], end=False
    )


def _capital(name: str) -> str:
    return name if name.startswith("`") else name[0].upper() + name[1:]


def _paragraph(said: str) -> Iterator[str]:
    yield fill(said, 100, break_on_hyphens=False, break_long_words=False)
    yield ""


def _item(said: str) -> Iterator[str]:
    yield fill(
        said,
        100,
        initial_indent="- ",
        subsequent_indent="  ",
        break_on_hyphens=False,
        break_long_words=False,
    )


def _table(
    head: Sequence[str], rows: Sequence[Sequence[str]], *, end: bool = True
) -> Iterator[str]:
    for row in (head, ["---"] * len(head), *rows):
        yield f"| {' | '.join(row)} |"
    if end:
        yield ""


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
