//! How long the receiver's window kept a sender from sending.

use rtolab_tcp::{Segment, Seq};
use rtolab_time::{Duration, Instant};

/// How long the window left no room for a full segment, and how long of that it was smaller than
/// half of its largest size: a receiver whose program reads slowly closes its window.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WindowLimit {
    /// The right edge of the window.
    edge: Option<Seq>,
    window: u32,
    /// The window of the handshake, which is never scaled.
    pub of_syn: u32,
    /// The largest window after the handshake.
    pub largest: u32,
    /// The larger one of both.
    most: u32,
    /// Since when it has left no room, and whether it was small then.
    full: Option<(Instant, bool)>,
    pub full_for: Duration,
    pub small_for: Duration,
}

impl WindowLimit {
    /// Processes the window of the receiver's SYN or SYN-ACK.
    pub fn on_syn(&mut self, window: u32) {
        self.of_syn = window;
        self.most = self.most.max(window);
    }

    /// The largest window so far, that of the handshake included.
    pub const fn most(&self) -> u32 {
        self.most
    }

    /// Does the window leave no room for a segment?
    pub const fn is_full(&self) -> bool {
        self.full.is_some()
    }

    /// Processes an ACK, which advertises a window.
    pub fn on_ack(&mut self, segment: &Segment, (max, mss): (Seq, u32), at: Instant) {
        let edge = segment.ack + segment.window;
        self.edge = Some(self.edge.map_or(edge, |before| before.max(edge)));
        self.window = segment.window;
        if segment.window > self.largest {
            self.largest = segment.window;
            self.most = self.most.max(segment.window);
        }
        self.update((max, mss), at);
    }

    /// Processes a change of SND.MAX.
    pub fn update(&mut self, (max, mss): (Seq, u32), at: Instant) {
        if let Some((since, is_small)) = self.full.take() {
            let length = at.since(since);
            self.full_for += length;
            self.small_for += if is_small { length } else { Duration::ZERO };
        }
        // A sender avoids small segments (RFC 9293 section 3.8.6.2.1).
        let least = mss.min(self.most / 2).max(1);
        if self.edge.is_some_and(|edge| max + least > edge) {
            self.full = Some((at, self.window < self.largest / 2));
        }
    }
}
