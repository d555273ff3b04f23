//! What a verdict of Spurious gives back of the windows: once an episode at most, nothing after an
//! echo of congestion, and never more than there was.

use proptest::prelude::*;
use rtolab_tcp::config::{RepeatedTimeout, Response};
use rtolab_tcp::congestion::Window;
use rtolab_tcp::spurious::Verdict;
use rtolab_tcp::{Config, Connection, Event, Seq};

/// An episode, as events tell of it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reversals {
    response: Option<Response>,
    /// Does a timeout not cut the window that a fast retransmit has cut?
    once: bool,
    /// SND.MAX when one did so.
    recovers: Option<Seq>,
    /// The segment that has timed out, while nothing is acknowledged and no verdict is known.
    timed_out: Option<Seq>,
    /// The larger of the congestion window before it and what was outstanding (which `rfc4015` and
    /// those of Linux 2.6 go by).
    before: u64,
    /// Bytes acknowledged in it.
    acked: u64,
    /// The threshold before what happened last.
    ssthresh: u64,
    echoed: bool,
    reversed: bool,
    /// How often a verdict gave something back.
    pub count: usize,
    /// How often one could not, for congestion was echoed.
    pub withheld: usize,
}

/// A sender before an acknowledgment.
#[derive(Clone, Copy, Debug)]
pub struct Before {
    window: Window,
    una: Seq,
    outstanding: u64,
}

impl Before {
    pub fn of(connection: &Connection) -> Self {
        let sender = connection.sender();
        let flight = sender.flight();
        Self { window: *sender.window(), una: flight.una(), outstanding: flight.size() }
    }
}

impl Reversals {
    pub fn of(config: &Config) -> Self {
        let once = config.window.repeated_timeout == RepeatedTimeout::OncePerWindow;
        Self { response: config.response, once, ..Self::default() }
    }

    /// The timer expired.
    pub fn hear(&mut self, connection: &Connection, events: &[Event]) {
        let flight = connection.sender().flight();
        for event in events {
            let (Event::Timeout(again) | Event::FastRetransmit(again)) = event else { continue };
            let goes_on = match event {
                Event::Timeout(_) => self.timed_out == Some(again.seq),
                _ => self.timed_out.is_some(),
            };
            // The state that is noted may be that of before the recovery.
            let recovers = self.recovers.is_some_and(|recover| again.seq <= recover);
            if !goes_on {
                let least = match (recovers, self.response) {
                    (true, _) => self.before.saturating_add(self.acked),
                    // A recovery that the acknowledgment completes ends at its threshold.
                    (false, Some(Response::Bsd)) => self.ssthresh,
                    _ => 0,
                };
                (self.before, self.acked) = (again.cwnd.max(flight.size()).max(least), 0);
                (self.echoed, self.reversed) = (false, false);
            }
            match event {
                Event::Timeout(_) => {
                    (self.timed_out, self.recovers) = (Some(again.seq), None);
                }
                _ if self.once => self.recovers = Some(flight.max()),
                _ => {}
            }
        }
        self.ssthresh = connection.sender().window().ssthresh();
    }

    /// An acknowledgment came, with an echo of congestion or without.
    pub fn acknowledged(
        &mut self,
        connection: &Connection,
        (before, echo): (Before, bool),
        events: &[Event],
    ) -> Result<(), TestCaseError> {
        let now = Before::of(connection);
        let acked = now.una.since(before.una);
        self.acked += acked;
        self.echoed |= echo;
        if acked > 0 {
            self.timed_out = None;
        }
        let is_spurious =
            |e: &Event| matches!(e, Event::Verdict { verdict: Verdict::Spurious, .. });
        let begins = |e: &Event| matches!(e, Event::FastRetransmit(_));
        if events.iter().any(is_spurious) && !events.iter().any(begins) {
            // The echo itself cuts the threshold to a part of what was outstanding, which may be
            // more.
            let cut = if echo { before.outstanding } else { 0 };
            self.judged((before.window, now.window), (acked, cut))?;
        }
        self.hear(connection, events);
        Ok(())
    }

    fn judged(
        &mut self,
        (before, after): (Window, Window),
        (acked, cut): (u64, u64),
    ) -> Result<(), TestCaseError> {
        let ssthresh = before.ssthresh().max(cut);
        (self.timed_out, self.recovers) = (None, None);
        // More than an acknowledgment adds in slow start.
        let growth = acked + 3 * after.smss();
        // A sender that continues in congestion avoidance starts from ssthresh; with rate halving
        // it starts from the outstanding data.
        let halves =
            matches!(self.response, Some(Response::Linux26Halving | Response::Linux26Undo));
        let raised = !halves && after.cwnd() > before.cwnd().max(ssthresh).saturating_add(growth);
        let reverses = raised || after.ssthresh() > ssthresh;
        // A second undo may restore less than the window has grown to.
        let lowered = after.cwnd() < before.cwnd() || after.ssthresh() < ssthresh;
        let again = self.reversed && (reverses || lowered);
        prop_assert!(!again, "twice: {before:?} {after:?} {self:?}");
        prop_assert!(!(reverses && self.echoed), "after an echo: {before:?} {after:?}");
        if reverses {
            let most =
                before.cwnd().max(self.before.saturating_add(self.acked)).saturating_add(growth);
            prop_assert!(after.cwnd() <= most, "{after:?} is more than before: {self:?}");
        }
        self.count += usize::from(reverses);
        self.withheld += usize::from(self.echoed);
        self.reversed |= reverses;
        Ok(())
    }
}
