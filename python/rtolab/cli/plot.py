"""The command `rtolab plot`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rtolab._rtolab import Error
from rtolab.cli.options import AsJson
from rtolab.cli.terminal import finite, name_files, pairs, print_json, stdout
from rtolab.files import check_targets

if TYPE_CHECKING:
    import polars as pl

    from rtolab.plot import Figure, Results
    from rtolab.plot.paper import FormatOptions


class Kind(StrEnum):
    """The kinds of figures."""

    SWEEP = "sweep"
    BOXES = "boxes"
    CDF = "cdf"
    TIME_SEQUENCE = "time-sequence"


class Column(StrEnum):
    """The widths of figures by name."""

    IEEE = "ieee"
    IEEE_WIDE = "ieee-wide"
    ACM = "acm"
    ACM_WIDE = "acm-wide"


class Place(StrEnum):
    """The hosts at which packets are seen."""

    SENDER = "sender"
    RECEIVER = "receiver"


def plot(  # noqa: PLR0913  (all but the first are options)
    results: Annotated[
        list[Path],
        typer.Argument(
            metavar="RESULTS...",
            help="Folders of sweep, run, reproduce, conform or diagnose --parquet, or JSON files "
            "of the last two; several are compared.",
        ),
    ],
    *,
    out: Annotated[Path, typer.Option(help="The figure: a .pdf, .svg, .png or .html file.")] = Path(
        "figure.pdf"
    ),
    kind: Annotated[
        Kind | None,
        typer.Option(
            help="sweep: medians with quartiles over a key; boxes: box plots; cdf: cumulative "
            "distributions; time-sequence: packets of traced runs.",
            show_default="what the results suggest",
        ),
    ] = None,
    measure: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="What is measured.",
            show_default="elapsed_s, or else goodput_bps",
        ),
    ] = None,
    over: Annotated[
        str | None,
        typer.Option(
            metavar="KEY",
            help="The horizontal axis of a sweep.",
            show_default="the key with the most values",
        ),
    ] = None,
    by: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="What distinguishes lines or boxes; repeatable.",
            show_default="the sender and all else that varies",
        ),
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN=VALUE", help="Only such rows; repeatable."),
    ] = None,
    table: Annotated[
        str | None, typer.Option(help="The table.", show_default="connections")
    ] = None,
    sender: Annotated[
        list[str] | None,
        typer.Option("--sender", "-s", help="Only this sender; repeatable, from top to bottom."),
    ] = None,
    between: Annotated[
        tuple[float, float] | None,
        typer.Option(metavar="BEGIN END", help="The time shown of packets, in s."),
    ] = None,
    flow: Annotated[str | None, typer.Option(help="The flow whose packets are shown.")] = None,
    place: Annotated[
        Place, typer.Option(help="The host at which packets are shown.")
    ] = Place.SENDER,
    window: Annotated[
        bool, typer.Option("--window", help="Also show the advertised window of packets.")
    ] = False,
    overlay: Annotated[
        bool, typer.Option("--overlay", help="Packets of all senders in one panel.")
    ] = False,
    log_x: Annotated[
        bool | None,
        typer.Option(
            "--log-x/--linear-x",
            help="Is the horizontal axis logarithmic?",
            show_default="if values grow by factors",
        ),
    ] = None,
    log_y: Annotated[
        bool, typer.Option("--log-y", help="A logarithmic axis of the measure.")
    ] = False,
    x_label: Annotated[str | None, typer.Option(help="The text of the horizontal axis.")] = None,
    y_label: Annotated[str | None, typer.Option(help="The text of the measure's axis.")] = None,
    column: Annotated[
        Column, typer.Option(help="As wide as one or two columns of IEEE or ACM.")
    ] = Column.IEEE,
    width: Annotated[
        float | None,
        typer.Option(metavar="INCHES", callback=finite, help="The width, instead of --column."),
    ] = None,
    height: Annotated[
        float | None, typer.Option(metavar="INCHES", callback=finite, help="The height.")
    ] = None,
    title: Annotated[str | None, typer.Option(help="A title; papers have captions.")] = None,
    font: Annotated[
        str | None, typer.Option(help="The font family.", show_default="Liberation Sans, as Arial")
    ] = None,
    font_size: Annotated[
        float, typer.Option(metavar="POINTS", callback=finite, help="The font size.")
    ] = 8.0,
    as_json: AsJson = False,
) -> None:
    """Draw a figure for print from a folder of results.

    Medians of sweeps have bars from quartile to quartile; where not all runs have finished, the
    figure and the printed caption say how many. Packets of traced runs come from `rtolab run --out`
    with one seed.
    """
    from rtolab import plot as figures  # noqa: PLC0415
    from rtolab.plot.paper import check_suffix  # noqa: PLC0415

    check_suffix(out)
    check_targets([(f"--out {out}", out)], results)
    read = [figures.read(path) for path in results]
    look: FormatOptions = {
        "column": column.value,
        "width_in": width,
        "height_in": height,
        "title": title,
        "font_pt": font_size,
    }
    if font is not None:
        look["font"] = font
    if kind is None and len(read) == 1 and table is None and measure is None:
        kind = Kind.TIME_SEQUENCE if read[0].is_traced else None
    of_packets = {
        "--between": between is not None,
        "--flow": flow is not None,
        "--place": place is not Place.SENDER,
        "--window": window,
        "--overlay": overlay,
    }
    of_runs = {
        "--measure": measure,
        "--over": over,
        "--by": by,
        "--where": where,
        "--table": table,
        "--log-x": log_x is not None,
        "--log-y": log_y,
        "--x-label": x_label,
        "--y-label": y_label,
    }
    if kind is Kind.TIME_SEQUENCE:
        _refuse(of_runs, kind.value, "--kind sweep, boxes or cdf")
        traced = _traced(read)
        figure = figures.time_sequence(
            traced,
            sender or (),
            flow=flow,
            place=place.value,
            between=between,
            window=window,
            overlay=overlay,
            **look,
        )
    else:
        _refuse(of_packets, "" if kind is None else kind.value, f"--kind {Kind.TIME_SEQUENCE}")
        rows = _rows(read, table, where or (), sender or ())
        axes: dict[str, Any] = {"by": by or (), "y_label": y_label, "log_y": log_y}
        figure = _summary(kind, rows, (measure, over), axes | {"x": (x_label, log_x)}, look)
    figure.save(out)
    if as_json:
        print_json({"files": [str(out)], "caption": list(figure.caption)})
        return
    for sentence in figure.caption:
        stdout().print(sentence, highlight=False, soft_wrap=True)
    name_files([out])


def _refuse(options: Mapping[str, object], kind: str, helps: str) -> None:
    """Raises Error if one of these options, which are of other kinds of figures, is given."""
    for option, given in options.items():
        if given:
            beside = f"beside --kind {kind}" if kind else "in a figure of runs"
            raise Error(f"found {option} {beside}; expected {helps}")


def _traced(read: Sequence[Results]) -> Any:
    """The traced runs of a folder."""
    from rtolab.plot import Folder  # noqa: PLC0415

    if len(read) > 1:
        raise Error(f"found {len(read)} folders; expected one, whose senders are compared")
    if not read[0].is_traced:
        raise Error(
            f"{read[0].path}: found no packets; expected the folder of `rtolab run --out` with one "
            "seed"
        )
    return Folder(read[0].path)


def _rows(
    read: Sequence[Results], table: str | None, where: Sequence[str], senders: Sequence[str]
) -> pl.DataFrame:
    """The chosen rows of the results."""
    from rtolab.plot.results import together  # noqa: PLC0415
    from rtolab.plot.summaries import only  # noqa: PLC0415

    conditions = [(key, [value]) for key, value in pairs(where, "--where").items()]
    if senders:
        conditions.append(("sender", list(senders)))
    return only(together(read, table), conditions)


def _summary(  # noqa: PLR0917  (one of each is enough)
    kind: Kind | None,
    rows: pl.DataFrame,
    columns: tuple[str | None, str | None],
    axes: dict[str, Any],
    look: FormatOptions,
) -> Figure:
    """A figure of repeated runs."""
    from rtolab import plot as figures  # noqa: PLC0415
    from rtolab.plot.summaries import has_grid  # noqa: PLC0415

    measure, over = columns
    x_label, log_x = axes.pop("x")
    if kind is None:
        kind = Kind.SWEEP if over is not None or has_grid(rows) else Kind.BOXES
    if kind is Kind.SWEEP:
        return figures.sweep(rows, measure, over, x_label=x_label, log_x=log_x, **axes, **look)
    if over is not None:
        raise Error(f"found --over beside --kind {kind.value}; expected --by, or --kind sweep")
    draw = figures.boxes if kind is Kind.BOXES else figures.cdf
    return draw(rows, measure, **axes, **look)
