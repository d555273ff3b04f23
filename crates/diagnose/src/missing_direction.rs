//! A direction whose packets the capture lacks from some time on. The other end's timestamps echo
//! packets that are not in the capture (RFC 7323).

use rtolab_capture::End;
use rtolab_tcp::{Flags, Segment};
use rtolab_time::Instant;
use serde::Serialize;

/// The minimum number of new timestamps echoed since the last captured packet. One may be that of
/// a packet which the capture dropped.
const MIN_ECHOED: u32 = 2;

/// A direction whose packets the capture lacks from some time on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MissingDirection {
    /// `client` or `server`: the end whose packets are missing.
    pub from: &'static str,
    /// The time of its last captured packet, in seconds since the capture's first packet.
    pub since: f64,
}

/// The newest timestamps of both ends, captured or echoed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EchoedTimestamps {
    newest: [Option<u32>; 2],
    /// How often each end's newest timestamp was echoed only, since its last captured packet.
    echoed: [u32; 2],
    /// The time of each end's last captured packet.
    last: [Instant; 2],
}

impl EchoedTimestamps {
    #[inline]
    pub fn pass(&mut self, from: End, segment: &Segment, at: Instant) {
        let (own, peer) = (from as usize, from.other() as usize);
        (self.echoed[own], self.last[own]) = (0, at);
        let Some(stamps) = segment.timestamps() else { return };
        if self.newest[own].is_none_or(|newest| is_newer(stamps.value, newest)) {
            self.newest[own] = Some(stamps.value);
        }
        let is_echo = segment.flags.has(Flags::ACK);
        if is_echo && self.newest[peer].is_some_and(|newest| is_newer(stamps.echo, newest)) {
            self.newest[peer] = Some(stamps.echo);
            self.echoed[peer] += 1;
        }
    }

    /// When the last packet of `end` passed, if the capture lacks its later packets.
    pub fn missing_since(&self, end: End) -> Option<Instant> {
        (self.echoed[end as usize] >= MIN_ECHOED).then_some(self.last[end as usize])
    }
}

const fn is_newer(value: u32, than: u32) -> bool {
    value.wrapping_sub(than) as i32 > 0
}
