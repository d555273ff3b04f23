//! What an acknowledgment changes.

use alloc::vec::Vec;

use rtolab_time::Instant;

use super::{Permit, Sender};
use crate::config::{FullAck, RecoverOnUndo, Sampling};
use crate::congestion::Window;
use crate::event::Event;
use crate::flight::AckFacts;
use crate::segment::Segment;
use crate::spurious::{Advice, Reopening, Resumption, Verdict};

impl Sender {
    /// Takes an acknowledgment, whose number is from SND.UNA to SND.MAX.
    pub fn on_ack(&mut self, segment: &Segment, at: Instant) {
        let timed = self.timed_segments(segment);
        let facts = match segment.sack_count() > 0 && !self.config.sack {
            false => self.flight.acked(segment, at),
            true => self.flight.acked(&segment.without_sack(), at),
        };
        self.burst = self.config.window.max_burst.unwrap_or(u32::MAX);
        if facts.is_new() {
            self.nxt = self.nxt.max(facts.ack);
            self.timed_out_at = None;
            self.forbears = false;
            self.trains.acked(facts.ack);
            self.sample(&facts, &timed);
        }
        self.last.received = Some(at);
        let settled = self.judge(&facts);
        let recovering = self.recovery.is_fast();
        self.recover(&facts, settled);
        if facts.is_new() {
            let ended = recovering && !self.recovery.is_fast();
            let grows = !recovering || (ended && self.config.window.full_ack == FullAck::Halved);
            if grows && !settled.freezes() && !facts.acks_syn() {
                self.window.grow(facts.advanced);
            }
            if settled.ends() || ended {
                self.moderate();
            }
            if ended {
                self.trains.resume();
            }
            self.trains.begin(!self.recovery.is_fast());
            self.restart_timer(at);
        } else {
            self.trains.begin(false);
            self.restart_timer_on_duplicate(&facts);
        }
    }

    /// Where every segment is timed: when those left that `segment` acknowledges and that were
    /// neither retransmitted nor selectively acknowledged.
    fn timed_segments(&self, segment: &Segment) -> Vec<Instant> {
        if self.config.rto.sampling != Sampling::EverySegment {
            return Vec::new();
        }
        let acked = self.flight.segments_from(self.flight.una());
        let acked = acked.take_while(|sent| sent.end() <= segment.ack);
        let clean = acked.filter(|sent| !sent.was_retransmitted() && !sent.is_sacked());
        clean.map(|sent| sent.first_sent).collect()
    }

    /// Takes a round-trip sample (RFC 6298 section 3, RFC 7323 section 4), or several where every
    /// segment is `timed`.
    fn sample(&mut self, facts: &AckFacts, timed: &[Instant]) {
        let sent = match (self.config.rto.sampling, facts.echo) {
            (Sampling::EverySegment, _) => {
                timed.last().copied().filter(|_| !facts.acks_retransmission)
            }
            (Sampling::EveryAck, Some(echo)) => Some(self.instant_of(echo, facts.at)),
            (Sampling::EveryAck, None) if facts.acks_retransmission => None,
            (Sampling::EveryAck, None) => facts.oldest_acked.map(|segment| segment.first_sent),
            (Sampling::OncePerWindow, _) => self
                .timed
                .filter(|(seq, _)| *seq < facts.ack)
                .inspect(|_| self.timed = None)
                .map(|(_, sent)| sent),
        };
        if facts.acks_syn() && !self.config.rto.sample_handshake {
            return;
        }
        let Some(sent) = sent else { return };
        self.rtt.expect_samples(facts.max.since(facts.una_before), self.window.smss);
        let earlier = timed.len().saturating_sub(1);
        for sent in timed[..earlier].iter().chain([&sent]) {
            let rtt = self.rtt.measure(*sent, facts.at);
            self.rtt.sample(rtt, self.flight.una(), self.flight.max());
        }
    }

    /// The timestamp clock of this end (RFC 7323 section 5.4).
    pub fn timestamp(&self, at: Instant) -> u32 {
        (at.nanos() / self.config.timestamp.tick.nanos()) as u32
    }

    /// When the timestamp `echo` was taken, seen from `at`.
    fn instant_of(&self, echo: u32, at: Instant) -> Instant {
        let age = self.timestamp(at).wrapping_sub(echo);
        let tick = self.config.timestamp.tick.nanos();
        let now = at.nanos() / tick * tick;
        Instant::from_nanos(now.saturating_sub(u64::from(age) * tick))
    }

    /// Asks the detectors about the last timeout and does as they advise.
    fn judge(&mut self, facts: &AckFacts) -> Settled {
        let verdict = self.eifel.on_ack(facts);
        self.tell("eifel", verdict, facts.at);
        if verdict == Verdict::Spurious {
            // The full response: the windows as before the timeout, and on with new data.
            self.window.cwnd = self.saved.cwnd;
            self.window.ssthresh = self.saved.ssthresh;
            self.resume();
            return Settled::Restored;
        }
        self.judge_by_frto(facts)
    }

    fn judge_by_frto(&mut self, facts: &AckFacts) -> Settled {
        let Some(mut frto) = self.frto.filter(|frto| !frto.is_idle()) else { return Settled::No };
        let (advice, verdict) = frto.on_ack(facts, self.can_send());
        self.frto = Some(frto);
        if let Some(variant) = self.config.frto {
            self.tell(variant.name(), verdict, facts.at);
        }
        match advice {
            Advice::Usual => {
                self.permit = Permit::Windows;
                return Settled::No;
            }
            Advice::Hold => self.permit = Permit::New(0),
            Advice::SendTwoNew(window) => {
                self.permit = Permit::New(2);
                match window {
                    Reopening::Ssthresh => self.window.cwnd = self.window.ssthresh,
                    Reopening::Two => self.window.set_segments(2),
                }
            }
            Advice::GoBackN { cwnd } => {
                self.permit = Permit::Windows;
                self.window.set_segments(cwnd);
            }
            Advice::Resume(resumption) => return self.resume_as(resumption),
        }
        Settled::Advised
    }

    /// F-RTO found a timeout spurious: what it makes of the windows.
    fn resume_as(&mut self, resumption: Resumption) -> Settled {
        self.resume();
        let Window { cwnd, ssthresh, .. } = self.window;
        match resumption {
            Resumption::Halved => {
                self.window.cwnd = ssthresh;
                return Settled::Resumed;
            }
            Resumption::TowardsPipe => {
                self.window.cwnd = ssthresh;
                self.window.ssthresh = self.saved.pipe;
            }
            Resumption::FromOne => self.window.set_segments(1),
            Resumption::Undone => {
                self.window.cwnd = cwnd.max(self.saved.cwnd);
                self.window.ssthresh = ssthresh.max(self.saved.ssthresh);
            }
        }
        Settled::Restored
    }

    /// A timeout was spurious: nothing more is retransmitted for it.
    fn resume(&mut self) {
        self.permit = Permit::Windows;
        self.nxt = self.flight.max();
        self.recovery.leave();
        if self.config.recover_on_undo == RecoverOnUndo::Reset {
            self.recovery.recover = self.flight.una() - 1;
        }
    }

    fn tell(&mut self, detector: &'static str, verdict: Verdict, at: Instant) {
        if verdict != Verdict::Open {
            self.events.push(Event::Judged { at, detector, verdict });
        }
    }

    /// A recovery or a spurious timeout ends, and much may have been acknowledged at once: the window
    /// shrinks to what is outstanding and one burst (report C-2002-07 section 3, as Linux does).
    fn moderate(&mut self) {
        if let Some(most) = self.config.window.max_burst {
            let burst = u64::from(most) * self.window.smss;
            self.window.cwnd = self.window.cwnd.min(self.outstanding() + burst);
        }
    }
}

/// What detectors and F-RTO's advice made of an acknowledgment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Settled {
    /// Nothing.
    No,
    /// F-RTO said what to do: loss recovery and growth leave the window alone.
    Advised,
    /// A timeout was spurious, and the windows are as before it: they do not grow besides.
    Restored,
    /// A timeout was spurious, and the sender goes on in congestion avoidance.
    Resumed,
}

impl Settled {
    /// Do loss recovery and growth leave the window alone?
    pub(crate) const fn freezes(self) -> bool {
        matches!(self, Self::Advised | Self::Restored)
    }

    /// Does a spurious timeout end here?
    const fn ends(self) -> bool {
        matches!(self, Self::Restored | Self::Resumed)
    }
}
