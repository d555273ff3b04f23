//! A verdict of Spurious restores the windows at most once per episode, restores nothing after an
//! ECE, and never more than the window before the episode.

use proptest::prelude::*;
use rtolab_tcp::config::{RepeatedTimeout, Response};
use rtolab_tcp::congestion::Window;
use rtolab_tcp::spurious::Verdict;
use rtolab_tcp::{Config, Connection, Event, Seq};

/// An episode, as its events describe it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Undos {
    response: Option<Response>,
    /// Does a timeout leave the window alone if a fast retransmit has just reduced it?
    once: bool,
    /// SND.MAX at that fast retransmit.
    recovers: Option<Seq>,
    /// The segment that has timed out, until something is acknowledged or a verdict is known.
    timed_out: Option<Seq>,
    /// The larger of the congestion window and the outstanding data before it (`rfc4015` and the
    /// responses of Linux 2.6 restore the latter).
    before: u64,
    /// Bytes acknowledged or SACKed in it.
    acked: u64,
    /// `ssthresh` before the last event.
    ssthresh: u64,
    echoed: bool,
    undone: bool,
    /// How often a verdict restored something.
    pub count: usize,
    /// How often a verdict restored nothing because of an ECE.
    pub withheld: usize,
}

/// A sender before an acknowledgment.
#[derive(Clone, Copy, Debug)]
pub struct Before {
    window: Window,
    una: Seq,
    outstanding: u64,
    sacked: u64,
}

impl Before {
    pub fn of(connection: &Connection) -> Self {
        let sender = connection.sender();
        let flight = sender.flight();
        let (una, outstanding, sacked) = (flight.una(), flight.size(), flight.sacked());
        Self { window: *sender.window(), una, outstanding, sacked }
    }
}

impl Undos {
    pub fn of(config: &Config) -> Self {
        let once = config.window.repeated_timeout == RepeatedTimeout::OncePerWindow;
        Self { response: config.response, once, ..Self::default() }
    }

    /// Updates the episode from the events.
    pub fn on_events(&mut self, connection: &Connection, events: &[Event]) {
        let flight = connection.sender().flight();
        for event in events {
            let (Event::Timeout(again) | Event::FastRetransmit(again)) = event else { continue };
            let goes_on = match event {
                Event::Timeout(_) => self.timed_out == Some(again.seq),
                _ => self.timed_out.is_some(),
            };
            // The saved state may be the one from before the recovery.
            let recovers = self.recovers.is_some_and(|recover| again.seq <= recover);
            if !goes_on {
                let min = match (recovers, self.response) {
                    (true, _) => self.before.saturating_add(self.acked),
                    // A recovery that the acknowledgment completes ends at `ssthresh`.
                    (false, Some(Response::Bsd)) => self.ssthresh,
                    _ => 0,
                };
                (self.before, self.acked) = (again.cwnd.max(flight.size()).max(min), 0);
                (self.echoed, self.undone) = (false, false);
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

    /// An acknowledgment arrived, with ECE or without.
    pub fn acknowledged(
        &mut self,
        connection: &Connection,
        (before, echo): (Before, bool),
        events: &[Event],
    ) -> Result<(), TestCaseError> {
        let now = Before::of(connection);
        let advanced = now.una.since(before.una);
        // The window may also grow for data that is SACKed.
        let missing = |it: &Before| it.outstanding - it.sacked;
        let acked = advanced.max(missing(&before).saturating_sub(missing(&now)));
        self.acked += acked;
        self.echoed |= echo;
        if advanced > 0 {
            self.timed_out = None;
        }
        let is_spurious =
            |e: &Event| matches!(e, Event::Verdict { verdict: Verdict::Spurious, .. });
        let begins = |e: &Event| matches!(e, Event::FastRetransmit(_));
        if events.iter().any(is_spurious) && !events.iter().any(begins) {
            // The ECE itself sets `ssthresh` to a part of the outstanding data, which may be more
            // than the old `ssthresh`.
            let cut = if echo { before.outstanding } else { 0 };
            self.check_undo((before.window, now.window), (acked, cut))?;
        }
        self.on_events(connection, events);
        Ok(())
    }

    fn check_undo(
        &mut self,
        (before, after): (Window, Window),
        (acked, cut): (u64, u64),
    ) -> Result<(), TestCaseError> {
        let ssthresh = before.ssthresh().max(cut);
        (self.timed_out, self.recovers) = (None, None);
        // An upper bound on the growth of slow start for one acknowledgment.
        let growth = acked + 3 * after.smss();
        // A sender that continues in congestion avoidance starts from ssthresh; with rate halving
        // it starts from the outstanding data.
        let halves =
            matches!(self.response, Some(Response::Linux26Halving | Response::Linux26Undo));
        let raised = !halves && after.cwnd() > before.cwnd().max(ssthresh).saturating_add(growth);
        let undoes = raised || after.ssthresh() > ssthresh;
        // A second undo may restore less than the window has grown to.
        let lowered = after.cwnd() < before.cwnd() || after.ssthresh() < ssthresh;
        let again = self.undone && (undoes || lowered);
        prop_assert!(!again, "twice: {before:?} {after:?} {self:?}");
        prop_assert!(!(undoes && self.echoed), "after an echo: {before:?} {after:?}");
        if undoes {
            let limit =
                before.cwnd().max(self.before.saturating_add(self.acked)).saturating_add(growth);
            prop_assert!(after.cwnd() <= limit, "{after:?} is more than before: {self:?}");
        }
        self.count += usize::from(undoes);
        self.withheld += usize::from(self.echoed);
        self.undone |= undoes;
        Ok(())
    }
}
