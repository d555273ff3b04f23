"""The papers and their inconsistencies."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Paper:
    """A paper whose experiments are reproduced.

    Attributes:
        id: the first part of its experiments' ids.
        title: as printed.
        authors: by family name, in the printed order.
        year: of publication.
        venue: where it appeared.
        inconsistencies: contradictions within the paper or to its sources, a sentence each.
    """

    id: str
    title: str
    authors: str
    year: int
    venue: str
    inconsistencies: tuple[str, ...] = ()


PAPERS = (
    Paper(
        "frto2002",
        "F-RTO: A New Recovery Algorithm for TCP Retransmission Timeouts",
        "Sarolahti, Kojo, Raatikainen",
        2002,
        "University of Helsinki, Department of Computer Science, report C-2002-07",
        ("Section 5.1 announces five TCP variants; the tables and figures have six.",),
    ),
    Paper(
        "arq2002",
        "TCP Performance and Behaviors with Local Retransmissions",
        "Pan, Mark, Shen",
        2002,
        "University of Waterloo",
        (
            "The wireless bandwidth is 386 kbit/s in Table 1 and 384 kbit/s in the text.",
            (
                "The columns of Table 1 run into one another: only the averages named in the "
                "text tell which residence times and loss rates belong together, and 1K and 10K "
                "are rates in kbit/s, 1 and 10 Mbit/s."
            ),
            (
                "The recursion of section 5.1 prints rtt where the variation rvtv is meant, as "
                "the table of symbols and the derivation that follows show."
            ),
        ),
    ),
    Paper(
        "minrto2007",
        "The TCP Minimum RTO Revisited",
        "Psaras, Tsaoussidis",
        2007,
        "Demokritos University of Thrace",
        (
            (
                "Table 2 prints differences of 13.2 %, 4.22 % and 6 % beside times that give "
                "12.5 %, 4.0 % and 5.6 %: presumably they were taken before rounding."
            ),
            "RFC 2988 is dated May 2000 in the references; it is of November 2000.",
        ),
    ),
    Paper(
        "dualrtt2004",
        "DualRTT: Detecting Spurious Timeouts in Wireless Mobile Environments",
        "Fu, Atiquzzaman",
        2004,
        "University of Oklahoma",
        (
            "Tables IV and V give M as 1.5 KB; the least squares of the same rows use 576.",
            (
                "The text has an RTO of 4 s when segment 131 leaves; Table II has 3.8 s, and "
                "only that leads to the printed times of both timeouts."
            ),
            (
                "The first timeout, at 34.54 s with an RTO of 3.8 s, was started at 30.74 s; "
                "Table II has that acknowledgment at 30.84 s."
            ),
            (
                "Table III has an NRTT of 13.9 s at 42.905 s. NRTT is defined from the most "
                "recent retransmission, which was 0.77 s before; 13.9 s is the time since the "
                "original."
            ),
            (
                "The coefficient of log(B) in equation 6 is positive; in Table V the threshold "
                "falls with the bandwidth."
            ),
            "Table V finds 158 spurious timeouts at 31.2 kbit/s, Table IV 156 in all.",
            (
                "Table VII has a link W3-W7 but neither W3-W4 nor W5-W6, without which the "
                "figure's paths are not connected, and it lists W5-W4 among the links of 1500 "
                "kbit/s, although W4-W5 is the bottleneck."
            ),
        ),
    ),
    Paper(
        "delays2001",
        "Effect of Delays on TCP Performance",
        "Gurtov",
        2001,
        "IFIP Personal Wireless Communications",
        (
            "Reference 23, Known TCP Implementation Problems, is called RFC 2988; it is RFC 2525.",
            (
                "Figure 1 is of a delay of 13 seconds and another paper's trace, the "
                "measurements of section 5 are of a delay of 10 seconds."
            ),
        ),
    ),
    Paper("detectors", "The detector study", "rtolab", 0, ""),
    Paper("outages", "The outage study", "rtolab", 0, ""),
    Paper("today", "Today's Linux on the papers' scenarios", "rtolab", 0, ""),
    Paper("liars", "What a misbehaving receiver gains", "rtolab", 0, ""),
)
"""The papers, in the order of their experiments."""


def paper(id_: str) -> Paper:
    """The paper of that id; an unknown one has only its id."""
    return next((paper for paper in PAPERS if paper.id == id_), Paper(id_, id_, "", 0, ""))
