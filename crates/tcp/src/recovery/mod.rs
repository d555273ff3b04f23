//! What is lost? Loss recovery by duplicate acknowledgments or by time.
//!
//! Each algorithm is a type in a file of its own that implements [`LossRecovery`]. It keeps its own
//! state and answers an acknowledgment with a value: a [`Step`], a [`NextSeg`]. The sender acts.

mod early_retransmit;
mod newreno;
mod rack;
mod reno;
mod sack;
mod sack1;
mod tahoe;
mod tlp;

use rtolab_time::{Duration, Instant};

use crate::config::{Algorithm, Bugfix, Config, RecoveryConfig, SackRules};
use crate::congestion::Window;
use crate::flight::{AckFacts, CleanAck, Flight};
use crate::seq::Seq;
use crate::timer::TimerTable;
use newreno::NewReno;
pub(crate) use rack::AnyRack;
use reno::Reno;
use sack::Sack;
use sack1::Sack1;
use tahoe::Tahoe;
pub(crate) use tlp::TailLossProbe;

/// What a loss recovery is asked.
pub(crate) trait LossRecovery {
    /// An acknowledgment arrived; `recovery` is what all algorithms share.
    fn on_ack(&mut self, recovery: &mut Recovery, ack: &AckFacts, cx: &mut Context<'_>) -> Step;

    /// The bytes that count against cwnd in fast recovery; `None`: all up to SND.NXT.
    fn pipe(&self, _recovery: &Recovery, _: &Flight, _: &RecoveryConfig) -> Option<u64> {
        None
    }

    /// What leaves next in fast recovery, where cwnd has room for a segment.
    fn next_seg(&mut self, _recovery: &Recovery, _cx: &mut Context<'_>) -> Option<NextSeg> {
        None
    }

    /// Does a new acknowledgment restart the retransmission timer in fast recovery?
    fn restarts_timer(&self, _config: &RecoveryConfig) -> bool {
        true
    }
}

/// What a loss recovery sees of the sender.
pub(crate) struct Context<'a> {
    pub flight: &'a mut Flight,
    pub timers: &'a mut TimerTable,
    pub config: &'a Config,
    pub window: Window,
    pub srtt: Option<Duration>,
    /// Retransmissions are suppressed.
    pub suppressed: bool,
    /// The retransmission timer expired, and no new acknowledgment has come since.
    pub timed_out: bool,
    /// There are new data, and the advertised window has room for them.
    pub can_send_new: bool,
    pub now: Instant,
}

/// What loss recovery makes of an acknowledgment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Nothing.
    None,
    /// A loss: fast retransmit, and fast recovery begins.
    Enter(Entry),
    /// A loss: fast retransmit, and slow start from one segment.
    SlowStart,
    /// Fast recovery goes on with a window of `cwnd` bytes.
    Stay { cwnd: u64, retransmit: Retransmit },
    /// Fast recovery is over; the window is `cwnd`, or stays as it is.
    Leave { cwnd: Option<u64> },
}

/// How fast recovery begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Bytes that are added to the reduced window at once.
    pub inflation: u64,
    pub retransmit: Retransmit,
    /// It takes the place of the recovery from a timeout.
    pub ends_timeout: bool,
}

impl Entry {
    /// The head is retransmitted, and the window does not inflate.
    const HEAD: Self = Self { inflation: 0, retransmit: Retransmit::Head, ends_timeout: false };
}

/// What is retransmitted whatever the windows say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Retransmit {
    Nothing,
    /// The first segment that is lost.
    Head,
    /// That segment, and nothing else leaves for this acknowledgment.
    HeadAlone,
}

/// What leaves next in fast recovery (RFC 6675 section 4, NextSeg).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NextSeg {
    /// The outstanding segment there.
    Retransmission(Seq),
    New,
}

/// What all loss recoveries share: duplicate acknowledgments, and the fast recovery under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Recovery {
    /// Duplicate acknowledgments since the last new one.
    pub dupacks: u32,
    /// Those of them that limited transmit answers: with SACK only those with new information.
    informative: u32,
    /// Bytes sent by limited transmit since then; they do not count in `ssthresh` (RFC 3042).
    pub limited: u64,
    /// After the highest sequence number sent when recovery began or the timer expired:
    /// `recover` of RFC 6582, `send_high` of RFC 2582, RecoveryPoint of RFC 6675.
    pub recover: Seq,
    /// In fast recovery: the window without what duplicate acknowledgments add to it, in bytes.
    halved: u64,
    /// The window before that, in bytes.
    pub before: u64,
    /// By how much fast retransmits that were found spurious have raised `dupthresh` since the
    /// timer last expired (Blanton and Allman 2002).
    raised: u32,
    /// Is fast recovery under way?
    fast: bool,
    /// What the heuristics of RFC 6582 section 4 keep of the last new acknowledgment.
    newest: NewestAck,
    algorithm: AnyRecovery,
}

/// The algorithms. [`AnyRack`] holds the state of RACK: it is large, an undo must not restore it,
/// and [`Recovery`] is copied whenever a reduction is saved.
#[derive(Clone, Copy, Debug)]
enum AnyRecovery {
    Tahoe(Tahoe),
    Reno(Reno),
    NewReno(NewReno),
    Sack(Sack),
    Sack1(Sack1),
    Rack,
}

impl AnyRecovery {
    fn of(config: &RecoveryConfig) -> Self {
        match (config.algorithm, config.sack.rules) {
            (Algorithm::Tahoe, _) => Self::Tahoe(Tahoe),
            (Algorithm::Reno, _) => Self::Reno(Reno),
            (Algorithm::NewReno, _) => Self::NewReno(NewReno::default()),
            (Algorithm::Sack, SackRules::Ns2) => Self::Sack1(Sack1::default()),
            (Algorithm::Sack, SackRules::Rfc3517 | SackRules::Rfc6675) => {
                Self::Sack(Sack::default())
            }
            (Algorithm::Rack, _) => Self::Rack,
        }
    }
}

/// Asks the algorithm; `$rack` is the answer where [`AnyRack`] has it.
macro_rules! ask {
    ($algorithm:expr, $owner:ident => $answer:expr, $rack:expr) => {
        match $algorithm {
            AnyRecovery::Tahoe($owner) => $answer,
            AnyRecovery::Reno($owner) => $answer,
            AnyRecovery::NewReno($owner) => $answer,
            AnyRecovery::Sack($owner) => $answer,
            AnyRecovery::Sack1($owner) => $answer,
            AnyRecovery::Rack => $rack,
        }
    };
}

/// What the heuristics of RFC 6582 section 4 keep of the last new acknowledgment.
#[derive(Clone, Copy, Debug, Default)]
struct NewestAck {
    /// By how many bytes it advanced SND.UNA.
    advanced: u64,
    /// Did it echo the timestamp of the last sending of what it acknowledged?
    answers_last_sending: bool,
}

impl Recovery {
    /// Nothing is lost yet.
    pub fn new(config: &RecoveryConfig) -> Self {
        Self::by(AnyRecovery::of(config))
    }

    fn by(algorithm: AnyRecovery) -> Self {
        Self {
            dupacks: 0,
            informative: 0,
            limited: 0,
            recover: Seq::FIRST,
            halved: 0,
            before: 0,
            raised: 0,
            fast: false,
            newest: NewestAck::default(),
            algorithm,
        }
    }

    /// Changes to `config`.
    pub fn reconfigure(&mut self, config: &RecoveryConfig) {
        let algorithm = AnyRecovery::of(config);
        if core::mem::discriminant(&algorithm) != core::mem::discriminant(&self.algorithm) {
            self.algorithm = algorithm;
        }
    }

    /// Is fast recovery under way?
    pub const fn is_fast(&self) -> bool {
        self.fast
    }

    /// Is it the SACK recovery of ns-2?
    pub const fn is_sack1(&self) -> bool {
        matches!(self.algorithm, AnyRecovery::Sack1(_))
    }

    /// Does the scoreboard choose what leaves in fast recovery?
    pub const fn is_by_scoreboard(&self) -> bool {
        self.fast && matches!(self.algorithm, AnyRecovery::Sack(_) | AnyRecovery::Sack1(_))
    }

    /// Is there neither fast recovery nor a count of duplicates?
    pub const fn is_idle(&self) -> bool {
        !self.fast && self.dupacks == 0 && self.informative == 0 && self.limited == 0
    }

    /// Keeps the facts for the heuristics of RFC 6582 section 4.
    #[inline]
    pub fn note_newest(&mut self, clean: &CleanAck) {
        let answers_last_sending = clean.echo.is_some() && clean.echo == clean.newest_timestamp;
        self.newest = NewestAck { advanced: clean.advanced, answers_last_sending };
    }

    /// The congestion window `cwnd` without what fast recovery added to it.
    pub const fn deflated(&self, cwnd: u64) -> u64 {
        if self.fast { self.halved } else { cwnd }
    }

    /// The algorithm's part of an acknowledgment.
    pub fn on_ack(&mut self, ack: &AckFacts, cx: &mut Context<'_>) -> Step {
        let mut algorithm = self.algorithm;
        let step = ask!(&mut algorithm, owner => owner.on_ack(self, ack, cx), Step::None);
        self.algorithm = algorithm;
        step
    }

    /// A new acknowledgment resets the counts, and is kept for the heuristics.
    pub fn on_new_ack(&mut self, ack: &AckFacts) {
        if !self.fast {
            self.leave();
        }
        let sent = ack.newest_acked.map(|newest| newest.timestamp);
        let answers_last_sending = ack.echo.is_some() && ack.echo == sent;
        self.newest = NewestAck { advanced: ack.advanced, answers_last_sending };
    }

    /// Fast recovery begins: the window was `before` bytes, is `halved`, and ends with `recover`.
    pub const fn enter(&mut self, halved: u64, before: u64, recover: Seq) {
        (self.halved, self.before) = (halved, before);
        (self.recover, self.fast) = (recover, true);
    }

    /// A fast retransmit begins slow start, and none follows before `max` is acknowledged.
    pub const fn on_slow_start(&mut self, max: Seq) {
        (self.recover, self.limited, self.informative) = (max, 0, 0);
    }

    /// A timeout ends fast recovery; none begins before `max` is acknowledged.
    pub fn on_timeout(&mut self, max: Seq) {
        self.recover = max;
        self.raised = 0;
        self.leave();
    }

    /// A fast retransmit was spurious: `dupthresh` rises by `increment`.
    pub const fn raise_dupthresh(&mut self, increment: u32) {
        self.raised = self.raised.saturating_add(increment);
    }

    /// DupThresh, with what spurious fast retransmits have added to it.
    const fn dupthresh(&self, config: &RecoveryConfig) -> u32 {
        config.dupthresh.saturating_add(self.raised)
    }

    /// No duplicate acknowledgments count any more, and fast recovery is over.
    pub fn leave(&mut self) {
        let Self { recover, raised, newest, algorithm, .. } = *self;
        *self = Self { recover, raised, newest, ..Self::by(algorithm) };
    }

    /// Another duplicate acknowledgment, `informative` if limited transmit answers it.
    const fn count(&mut self, informative: bool) {
        self.dupacks += 1;
        self.informative += informative as u32;
    }

    /// May duplicate acknowledgments start fast recovery, or do they come from what a timeout
    /// retransmitted (RFC 2582 section 3, RFC 6675 section 5.1)?
    pub fn may_enter(&self, cx: &Context<'_>) -> bool {
        let (una, smss) = (cx.flight.una(), cx.window.smss);
        match (self.algorithm, cx.config.recovery.bugfix) {
            _ if cx.suppressed => false,
            (AnyRecovery::Rack | AnyRecovery::Sack(_), _) | (_, Bugfix::LessCareful) => {
                una >= self.recover
            }
            (_, Bugfix::None) => true,
            _ if una > self.recover => true,
            (_, Bugfix::Careful) => false,
            (_, Bugfix::AckHeuristic) => cx.window.cwnd > smss && self.newest.advanced <= 4 * smss,
            (_, Bugfix::TimestampHeuristic) => self.newest.answers_last_sending,
        }
    }

    pub fn restarts_timer(&self, config: &RecoveryConfig) -> bool {
        !self.fast || ask!(&self.algorithm, owner => owner.restarts_timer(config), true)
    }

    #[inline]
    pub fn pipe(&self, flight: &Flight, config: &RecoveryConfig) -> Option<u64> {
        let owner = self.fast.then_some(&self.algorithm)?;
        ask!(owner, owner => owner.pipe(self, flight, config), None)
    }

    pub fn next_seg(&mut self, cx: &mut Context<'_>) -> Option<NextSeg> {
        let mut algorithm = self.algorithm;
        let next = ask!(&mut algorithm, owner => owner.next_seg(self, cx), None);
        self.algorithm = algorithm;
        next
    }

    /// How much limited transmit lets out beyond the congestion window: a segment for each of the
    /// first two duplicate acknowledgments (RFC 3042).
    pub fn limited_transmit(&self, config: &RecoveryConfig, smss: u64) -> u64 {
        match config.limited_transmit && !self.fast {
            true => u64::from(self.informative.min(2)) * smss,
            false => 0,
        }
    }
}
