//! The detectors that there are, by name.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use thiserror::Error;

use super::{
    BadRetransmit, Detector, Dsack, DsackCauses, DsackLinux, DualRtt, Eifel, EifelRxt, EifelSafe,
    FrtoJudge, FrtoVariant, Originals, Rfc3522, UndoLinux,
};
use crate::config::{Logarithm, Threshold};

/// A detector that judges can be asked for.
#[derive(Clone, Copy, Debug)]
pub struct DetectorKind {
    /// Its name.
    pub name: &'static str,
    /// What it goes by, in one sentence.
    pub about: &'static str,
    /// Who published it.
    pub source: &'static str,
    /// One that has seen nothing yet.
    pub make: fn() -> Box<dyn Detector>,
}

/// Every detector that there is: a new one is one file and one line here.
pub const DETECTORS: &[DetectorKind] = &[
    DetectorKind {
        name: "eifel",
        about: "the first acknowledgment echoes a timestamp older than the retransmission's",
        source: "Ludwig and Katz 2000",
        make: || Box::new(Eifel::default()),
    },
    DetectorKind {
        name: "eifel:rfc3522",
        about: "as eifel, unless the acknowledgment may be that of a duplicate",
        source: "RFC 3522 section 3.2",
        make: || Box::new(Rfc3522::default()),
    },
    DetectorKind {
        name: "frto",
        about: "the first two acknowledgments advance, though only one segment was sent again",
        source: "report C-2002-07 section 3",
        make: || Box::new(FrtoJudge::new(FrtoVariant::Report)),
    },
    DetectorKind {
        name: "frto:rfc4138",
        about: "as frto, unless the first is for all that was outstanding or for part of a segment",
        source: "RFC 4138 section 2.1",
        make: || Box::new(FrtoJudge::new(FrtoVariant::Rfc4138)),
    },
    DetectorKind {
        name: "frto:rfc5682",
        about: "as frto:rfc4138, but stays out of a recovery that a timeout has begun",
        source: "RFC 5682 section 2.1",
        make: || Box::new(FrtoJudge::new(FrtoVariant::Rfc5682)),
    },
    DetectorKind {
        name: "frto:rfc5682-sack",
        about: "as frto:rfc5682, but the second may be a SACK block, and duplicates may precede",
        source: "RFC 5682 section 3.1",
        make: || Box::new(FrtoJudge::new(FrtoVariant::Rfc5682Sack)),
    },
    DetectorKind {
        name: "frto:linux",
        about: "as frto, or an acknowledgment for an original before new segments are sent",
        source: "Linux 6.1",
        make: || Box::new(FrtoJudge::new(FrtoVariant::Linux)),
    },
    DetectorKind {
        name: "frto:ns2",
        about: "as frto:rfc4138, with SACK as in ns-2",
        source: "ns-2.35",
        make: || Box::new(FrtoJudge::new(FrtoVariant::Ns2)),
    },
    DetectorKind {
        name: "originals",
        about: "a segment is acknowledged that was sent before the timeout and never again",
        source: "Linux 6.1, FLAG_ORIG_SACK_ACKED",
        make: || Box::new(Originals),
    },
    DetectorKind {
        name: "dualrtt",
        about: "an acknowledgment comes within a tenth of the smallest round-trip time",
        source: "Fu and Atiquzzaman 2004 section IV",
        make: || Box::new(DualRtt::default()),
    },
    DetectorKind {
        name: "dualrtt:physical",
        about: "an acknowledgment comes within one and a half times their spacing",
        source: "after Fu and Atiquzzaman 2004 Table V",
        make: || Box::new(DualRtt::with(Threshold::Physical)),
    },
    DetectorKind {
        name: "dualrtt:paper-ln",
        about: "as dualrtt, within a part by the paper's model with the natural logarithm",
        source: "Fu and Atiquzzaman 2004 equations 3 and 6",
        make: || Box::new(DualRtt::with(Threshold::Paper(Logarithm::Natural))),
    },
    DetectorKind {
        name: "dualrtt:paper-log10",
        about: "as dualrtt:paper-ln, with the decimal logarithm",
        source: "Fu and Atiquzzaman 2004 equations 3 and 6",
        make: || Box::new(DualRtt::with(Threshold::Paper(Logarithm::Decimal))),
    },
    DetectorKind {
        name: "dualrtt:table",
        about: "as dualrtt, within the part that the paper found best for the bandwidth",
        source: "Fu and Atiquzzaman 2004 Table V",
        make: || Box::new(DualRtt::with(Threshold::Table)),
    },
    DetectorKind {
        name: "dualrtt:online",
        about: "as dualrtt:paper-ln, of the path as acknowledgments show it",
        source: "Fu and Atiquzzaman 2004 section V-B",
        make: || Box::new(DualRtt::with(Threshold::Online)),
    },
    DetectorKind {
        name: "dsack",
        about: "the receiver reports each retransmission as a duplicate",
        source: "RFC 3708 section 3",
        make: || Box::new(Dsack::default()),
    },
    DetectorKind {
        name: "eifel:safe",
        about: "the first acknowledgment echoes the very timestamp of the original",
        source: "RFC 3522 section 3.4",
        make: || Box::new(EifelSafe::default()),
    },
    DetectorKind {
        name: "eifel:rxt",
        about: "the first acknowledgment does not say that it answers a marked retransmission",
        source: "draft-ludwig-tsvwg-tcp-rxt-flag-03",
        make: || Box::new(EifelRxt::default()),
    },
    DetectorKind {
        name: "eifel:two-bits",
        about: "as eifel:rxt, whichever acknowledgment the receiver puts the echo in",
        source: "Ludwig and Katz 2000",
        make: || Box::new(EifelRxt::default()),
    },
    DetectorKind {
        name: "eifel:forward",
        about: "as eifel, but a second acknowledgment has to advance, too, as in frto",
        source: "report C-2002-07 section 6",
        make: || Box::new(FrtoJudge::new(FrtoVariant::Eifel)),
    },
    DetectorKind {
        name: "badrexmit",
        about: "an acknowledgment comes within half a smoothed round-trip time",
        source: "FreeBSD, after Allman and Paxson 1999",
        make: || Box::new(BadRetransmit::default()),
    },
    DetectorKind {
        name: "dsack:linux",
        about: "the receiver reports as many duplicates as there were retransmissions",
        source: "Linux tcp_input.c",
        make: || Box::new(DsackLinux::default()),
    },
    DetectorKind {
        name: "dsack:causes",
        about: "as dsack:linux, and no report speaks of lost acknowledgments",
        source: "Pan, Mark and Shen section 5.3",
        make: || Box::new(DsackCauses::default()),
    },
];

/// DualRTT with a fixed threshold, to be asked for by name only: the seven of Fu and Atiquzzaman's
/// Table V, and two more where it has wide steps.
pub const DUALRTT_THRESHOLDS: &[DetectorKind] = &[
    dualrtt::<10>("dualrtt:0.01"),
    dualrtt::<25>("dualrtt:0.025"),
    dualrtt::<40>("dualrtt:0.04"),
    dualrtt::<80>("dualrtt:0.08"),
    dualrtt::<100>("dualrtt:0.1"),
    dualrtt::<200>("dualrtt:0.2"),
    dualrtt::<400>("dualrtt:0.4"),
    dualrtt::<600>("dualrtt:0.6"),
    dualrtt::<900>("dualrtt:0.9"),
];

/// Detectors that unite others of the table, to be asked for by name only.
pub const UNITED: &[DetectorKind] = &[DetectorKind {
    name: "undo:linux",
    about: "by timestamps and D-SACK, with one bookkeeping and before F-RTO",
    source: "Linux 6, tcp_may_undo",
    make: || Box::new(UndoLinux::default()),
}];

/// With a threshold of so many thousandths.
const fn dualrtt<const THOUSANDTHS: u32>(name: &'static str) -> DetectorKind {
    DetectorKind {
        name,
        about: "as dualrtt, within this part of the smallest round-trip time",
        source: "Fu and Atiquzzaman 2004 section IV",
        make: || Box::new(DualRtt::with_tau(THOUSANDTHS)),
    }
}

/// No detector of that name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("unknown detector `{found}`; known are {known}")]
pub struct UnknownDetector {
    /// The name.
    pub found: String,
    /// All that there are.
    pub known: String,
}

/// The detector called `name`.
pub fn detector(name: &str) -> Result<&'static DetectorKind, UnknownDetector> {
    let every = || DETECTORS.iter().chain(DUALRTT_THRESHOLDS).chain(UNITED);
    every().find(|kind| kind.name == name).ok_or_else(|| {
        let known = every().map(|kind| kind.name).collect::<Vec<_>>().join(", ");
        UnknownDetector { found: name.to_string(), known }
    })
}
