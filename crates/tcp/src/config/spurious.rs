//! Knobs of a sender that finds a retransmission spurious: which detectors it acts on, and how it
//! responds.

/// Detectors of spurious retransmissions that a sender acts on, beside F-RTO.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Detectors {
    /// Eifel detection.
    pub eifel: Option<EifelForm>,
    /// FreeBSD's: an acknowledgment within half a round trip.
    pub bad_retransmit: bool,
    /// DualRTT.
    pub dualrtt: bool,
    /// By D-SACK.
    pub dsack: Option<DsackForm>,
}

impl Detectors {
    /// Is there none?
    pub(crate) const fn is_empty(self) -> bool {
        let Self { eifel, bad_retransmit, dualrtt, dsack } = self;
        eifel.is_none() && !bad_retransmit && !dualrtt && dsack.is_none()
    }
}

/// Which Eifel detection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EifelForm {
    /// Ludwig and Katz 2000, for timeouts.
    LudwigKatz,
    /// RFC 3522 section 3.2, for timeouts and fast retransmits.
    Rfc3522,
    /// By a flag that retransmissions carry and the receiver echoes
    /// (draft-ludwig-tsvwg-tcp-rxt-flag-03): both ends must be of this laboratory.
    Flag,
    /// RFC 3522 section 3.4: only the echo of the original itself counts.
    Safe,
}

/// Which detection by D-SACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DsackForm {
    /// RFC 3708 section 3.
    Rfc3708,
    /// Linux: retransmissions and reports are counted.
    Linux,
    /// As Linux, but only reports of what reordering or a premature timeout had sent again count (Pan,
    /// Mark and Shen, section 5.3).
    Causes,
}

/// Knobs of DualRTT (Fu and Atiquzzaman 2004).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DualRttConfig {
    /// What an acknowledgment must be sooner than.
    pub threshold: Threshold,
    /// How the first acknowledgment after a timeout is judged.
    pub first: FirstAck,
}

/// What fraction of the smallest round trip DualRTT's threshold is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threshold {
    /// So many thousandths.
    Fixed(u32),
    /// One and a half times the spacing of acknowledgments, and at most nine tenths of the smallest
    /// round trip: held segments leave the bottleneck one serialisation time apart.
    Physical,
}

impl Default for Threshold {
    /// What the paper advises where nothing is known of the path (section V).
    fn default() -> Self {
        Self::Fixed(100)
    }
}

/// How DualRTT judges the first new acknowledgment after a timeout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FirstAck {
    /// As any: since the last retransmission of the segment (equation 1).
    #[default]
    Definition,
    /// Since the segment was first sent, as in Table III.
    Original,
    /// Not at all.
    Skip,
}

/// What a spurious timeout or fast retransmit restores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Response {
    /// Nothing, and what is outstanding is sent again.
    None,
    /// Nothing, but no more is sent again.
    StopGbn,
    /// The window is the halved `ssthresh` (report C-2002-07 section 3 step 3 i).
    Half,
    /// Window and `ssthresh` as before (Ludwig and Katz 2000).
    Full,
    /// By how often the timer expired for the segment: once, as before; twice, half the window of
    /// before is both; more often, as the timeouts left it. Ludwig and Katz 2000 from memory, not
    /// checked against the paper.
    FullScaled,
    /// The window is what was outstanding and one segment, `ssthresh` the former window
    /// (`spurious_response_` 1 of ns-2).
    Ns2Full,
    /// The window is the halved `ssthresh`, with slow start from there to the former window
    /// (`spurious_response_` 2 of ns-2).
    Ns2Half,
    /// Slow start from one segment to the former window (`spurious_response_` 3 of ns-2).
    Ns2SlowStart,
    /// RFC 4015, with its timeout.
    Rfc4015,
    /// Neither is less than before, nor than now (`tcp_undo_cwnd_reduction`).
    Linux,
    /// Rate halving from what is outstanding to the halved `ssthresh` (`tcp_frto_response` 0 of
    /// Linux 2.6.22 to 3.9).
    Linux26Halving,
    /// What is outstanding, but at most the halved `ssthresh` (`tcp_frto_response` 1).
    Linux26Conservative,
    /// Twice the halved `ssthresh`, and `ssthresh` not below three quarters of the window of before
    /// (`tcp_frto_response` 2).
    Linux26Undo,
    /// As before, with the recovery that was under way (`tcp_input.c` of FreeBSD).
    Bsd,
}
