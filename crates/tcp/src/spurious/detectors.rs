//! The registry of detectors: a new one is one file and one row here.

use alloc::boxed::Box;

use super::{
    BadRetransmit, Detector, Dsack, DsackCauses, DsackLinux, DualRtt, DualRttConfig, Eifel,
    EifelRxt, EifelSafe, FrtoVariant, Logarithm, OrigAcked, PassiveFrto, Rfc3522, Threshold,
    UndoLinux,
};
use crate::response::Response;

/// A row of the registry.
#[derive(Clone, Copy, Debug)]
pub struct DetectorKind {
    /// Its name.
    pub name: &'static str,
    /// Its description, at most 54 characters, so that it fits into a line of a list.
    pub about: &'static str,
    /// Its publication or implementation.
    pub source: &'static str,
    pub(super) make: Make,
    pub(crate) acting: Option<Acting>,
}

/// How a detector is made.
#[derive(Clone, Copy, Debug)]
pub(super) enum Make {
    New(fn() -> Box<dyn Detector>),
    /// F-RTO, which a sender runs separately, because it also decides what to send.
    Frto(FrtoVariant),
    /// DualRTT with this threshold; `None`: with that of the configuration.
    DualRtt(Option<Threshold>),
}

/// How a sender acts on a detector.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Acting {
    pub family: Family,
    pub needs: Option<Requirement>,
    /// The response of its publication, or of the stacks that implement it.
    pub response: Response,
    /// Does it handle only timeouts, not fast retransmits?
    pub timeouts_only: bool,
}

/// A group of detectors of which a sender has at most one. The sender runs the families in this
/// order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Family {
    /// Detectors that use timestamps or the RXT flag.
    Eifel,
    /// FreeBSD's detector, which uses the time until the acknowledgment.
    BadRetransmit,
    /// DualRTT. It waits for a second retransmission, which F-RTO does not send.
    DualRtt,
    /// Detectors that use D-SACK. A sender runs F-RTO before it acts on these.
    Dsack,
    /// Detectors that combine several kinds of evidence.
    Composite,
    /// A detector that is its own family.
    Single,
    /// F-RTO, which a sender runs after all others.
    Frto,
}

/// A requirement of a detector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Requirement {
    /// Timestamps, which a sender with such a detector offers.
    Timestamps,
    /// The RXT flag on retransmissions.
    Marks,
    /// D-SACK, which implies SACK.
    Dsack,
}

/// All detectors except the [composite](COMPOSITE_DETECTORS) ones. A new one is one file and one
/// row here.
pub const DETECTORS: &[DetectorKind] = &[
    DetectorKind::new(
        "eifel",
        "an ACK echoes a timestamp of before the timeout",
        "Ludwig and Katz 2000",
        || Box::new(Eifel::default()),
    )
    .acting(Family::Eifel, Response::Full)
    .needing(Requirement::Timestamps)
    .timeouts_only(),
    DetectorKind::new(
        "eifel:rfc3522",
        "by timestamps, unless a duplicate may be acknowledged",
        "RFC 3522 section 3.2",
        || Box::new(Rfc3522::default()),
    )
    .acting(Family::Eifel, Response::Full)
    .needing(Requirement::Timestamps),
    frto(
        "frto",
        "F-RTO as first published",
        "report C-2002-07 section 3",
        (FrtoVariant::Report, Family::Frto, Response::Half),
    ),
    frto(
        "frto:rfc4138",
        "F-RTO, experimental",
        "RFC 4138 section 2.1",
        (FrtoVariant::Rfc4138, Family::Frto, Response::Half),
    ),
    frto(
        "frto:rfc5682",
        "F-RTO, standard",
        "RFC 5682 section 2.1",
        (FrtoVariant::Rfc5682, Family::Frto, Response::Half),
    ),
    frto(
        "frto:rfc5682-sack",
        "F-RTO with SACK",
        "RFC 5682 section 3.1",
        (FrtoVariant::Rfc5682Sack, Family::Frto, Response::Half),
    ),
    frto(
        "frto:linux",
        "F-RTO that undoes the timeout",
        "Linux 6.1, tcp_process_loss",
        (FrtoVariant::Linux, Family::Frto, Response::Linux),
    ),
    frto(
        "frto:ns2",
        "F-RTO as simulated, spurious_response_ 2",
        "ns-2.35, tcp.cc and tcp-sack1.cc",
        (FrtoVariant::Ns2, Family::Frto, Response::Ns2Half),
    ),
    DetectorKind::new(
        "originals",
        "an ACK for a segment that was sent only once",
        "Linux 6.1, FLAG_ORIG_SACK_ACKED",
        || Box::new(OrigAcked),
    ),
    dualrtt(
        "dualrtt",
        "an ACK within a fraction of the smallest round trip",
        "Fu and Atiquzzaman 2004 section IV",
        None,
    ),
    dualrtt(
        "dualrtt:physical",
        "an ACK within one and a half times their spacing",
        "after Fu and Atiquzzaman 2004 Table V",
        Some(Threshold::Physical),
    ),
    dualrtt(
        "dualrtt:paper-ln",
        "by the paper's model, natural logarithm",
        "Fu and Atiquzzaman 2004 equations 3 and 6",
        Some(Threshold::Paper(Logarithm::Natural)),
    ),
    dualrtt(
        "dualrtt:paper-log10",
        "by the paper's model, decimal logarithm",
        "Fu and Atiquzzaman 2004 equations 3 and 6",
        Some(Threshold::Paper(Logarithm::Decimal)),
    ),
    dualrtt(
        "dualrtt:table",
        "by the paper's table of bandwidths",
        "Fu and Atiquzzaman 2004 Table V",
        Some(Threshold::Table),
    ),
    dualrtt(
        "dualrtt:online",
        "by the paper's model of the measured path",
        "Fu and Atiquzzaman 2004 section V-B",
        Some(Threshold::Online),
    ),
    DetectorKind::new(
        "dsack",
        "all retransmissions reported by D-SACK",
        "RFC 3708 section 3",
        || Box::new(Dsack::default()),
    )
    .acting(Family::Dsack, Response::Linux)
    .needing(Requirement::Dsack),
    DetectorKind::new(
        "eifel:safe",
        "by timestamps, the original's echo only",
        "RFC 3522 section 3.4",
        || Box::new(EifelSafe::default()),
    )
    .acting(Family::Eifel, Response::Full)
    .needing(Requirement::Timestamps),
    DetectorKind::new(
        "eifel:rxt",
        "by marks on retransmissions, if both ends know them",
        "draft-ludwig-tsvwg-tcp-rxt-flag-03",
        || Box::new(EifelRxt::default()),
    )
    .acting(Family::Eifel, Response::Full)
    .needing(Requirement::Marks),
    DetectorKind::new(
        "eifel:two-bits",
        "by marks that any ACK echoes",
        "Ludwig and Katz 2000, two reserved bits",
        || Box::new(EifelRxt::default()),
    )
    .acting(Family::Eifel, Response::Full)
    .needing(Requirement::Marks)
    .timeouts_only(),
    frto(
        "eifel:forward",
        "by timestamps, going on as F-RTO does",
        "report C-2002-07 section 6",
        (FrtoVariant::Eifel, Family::Eifel, Response::Full),
    )
    .needing(Requirement::Timestamps),
    DetectorKind::new(
        "badrexmit",
        "an ACK within half a round trip",
        "FreeBSD, tcp_input.c; Allman and Paxson 1999 section 2.8",
        || Box::new(BadRetransmit::default()),
    )
    .acting(Family::BadRetransmit, Response::Bsd),
    DetectorKind::new(
        "dsack:linux",
        "retransmissions counted, less those reported by D-SACK",
        "Linux 6.1, tcp_check_dsack",
        || Box::new(DsackLinux::default()),
    )
    .acting(Family::Dsack, Response::Linux)
    .needing(Requirement::Dsack),
    DetectorKind::new(
        "dsack:causes",
        "all reported by D-SACK, but for lost ACKs",
        "Pan, Mark and Shen 2002, section 5.3",
        || Box::new(DsackCauses::default()),
    )
    .acting(Family::Dsack, Response::Linux)
    .needing(Requirement::Dsack),
];

/// Detectors that combine others of the table; `all` leaves them out.
pub const COMPOSITE_DETECTORS: &[DetectorKind] = &[DetectorKind::new(
    "undo:linux",
    "by timestamps and D-SACK, before F-RTO is asked",
    "Linux 6, tcp_may_undo",
    || Box::new(UndoLinux::default()),
)
.acting(Family::Composite, Response::Linux)];

const fn frto(
    name: &'static str,
    about: &'static str,
    source: &'static str,
    (variant, family, response): (FrtoVariant, Family, Response),
) -> DetectorKind {
    DetectorKind { name, about, source, make: Make::Frto(variant), acting: None }
        .acting(family, response)
}

const fn dualrtt(
    name: &'static str,
    about: &'static str,
    source: &'static str,
    threshold: Option<Threshold>,
) -> DetectorKind {
    DetectorKind { name, about, source, make: Make::DualRtt(threshold), acting: None }
        .acting(Family::DualRtt, Response::Full)
}

impl DetectorKind {
    /// A row for a passive detector.
    pub const fn new(
        name: &'static str,
        about: &'static str,
        source: &'static str,
        make: fn() -> Box<dyn Detector>,
    ) -> Self {
        Self { name, about, source, make: Make::New(make), acting: None }
    }

    /// The same row for a detector that a sender may act on, with this default response.
    #[must_use]
    pub const fn acting(mut self, family: Family, response: Response) -> Self {
        self.acting = Some(Acting { family, needs: None, response, timeouts_only: false });
        self
    }

    /// The same row for a detector with this requirement.
    #[must_use]
    pub const fn needing(mut self, needs: Requirement) -> Self {
        if let Some(acting) = &mut self.acting {
            acting.needs = Some(needs);
        }
        self
    }

    /// The same row for a detector that handles only timeouts.
    const fn timeouts_only(mut self) -> Self {
        if let Some(acting) = &mut self.acting {
            acting.timeouts_only = true;
        }
        self
    }

    /// A new detector in its initial state. `dualrtt` are the settings of DualRTT.
    pub fn make(&self, dualrtt: DualRttConfig) -> Box<dyn Detector> {
        match self.make {
            Make::New(make) => make(),
            Make::Frto(variant) => Box::new(PassiveFrto::new(variant)),
            Make::DualRtt(threshold) => {
                let threshold = threshold.unwrap_or(dualrtt.threshold);
                Box::new(DualRtt::new(DualRttConfig { threshold, ..dualrtt }))
            }
        }
    }
}
