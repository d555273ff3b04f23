//! A connection that one capture contains from two capture points of its path. Every packet passes
//! the two points at different times, and each point is diagnosed on its own.

use std::collections::{HashMap, VecDeque};

use rtolab_capture::{CapturedPacket, End};
use rtolab_time::{Duration, Instant};

use crate::duplicates::{Fingerprint, fingerprint};

/// The shortest time between copies of a packet at two capture points.
pub(crate) const MIN_APART: Duration = Duration::from_millis(1);
/// The number of such copies that establishes two capture points without the handshake.
pub(crate) const MIN_COPIES: u32 = 3;
/// If the handshake does not establish the two capture points, the packets in flight and those of
/// this time are not diagnosed.
const SETTLING: Duration = Duration::from_secs(1);
/// The longest time between copies of a packet at the two capture points.
const LONGEST: Duration = Duration::from_secs(60);
/// The maximum number of packets that wait for their second copy.
const MAX_WAITING: usize = 1 << 16;

/// The capture point of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum CapturePoint {
    /// The only capture point, or the one that saw the connection first.
    #[default]
    Near,
    /// The other capture point.
    Far,
}

/// The packets that only one of two capture points has seen so far.
#[derive(Debug)]
pub(crate) struct TwoCapturePoints {
    /// The end near the first capture point. `None` if the clocks of the two points differ, so that
    /// the first copies of all packets are from one point.
    near: Option<End>,
    waiting: HashMap<(bool, Fingerprint), Instant>,
    order: VecDeque<(Instant, (bool, Fingerprint))>,
    /// Packets before this time are not diagnosed.
    pub settles: Instant,
}

impl TwoCapturePoints {
    pub fn new(near: Option<End>, settles: Option<Instant>) -> Self {
        let (waiting, order) = (HashMap::new(), VecDeque::new());
        let settles = settles.map_or(Instant::START, |now| now + SETTLING);
        Self { near, waiting, order, settles }
    }

    /// The capture point of this packet, and whether it is the first copy.
    pub fn of(&mut self, from: End, packet: &CapturedPacket, at: Instant) -> (CapturePoint, bool) {
        let key = (from == End::Client, fingerprint(packet));
        let is_first = self.waiting.remove(&key).is_none();
        if is_first {
            let is_over = |&(then, _): &(Instant, _)| at.since(then) > LONGEST;
            while self.order.len() >= MAX_WAITING || self.order.front().is_some_and(is_over) {
                let Some((then, key)) = self.order.pop_front() else { break };
                if self.waiting.get(&key) == Some(&then) {
                    self.waiting.remove(&key);
                }
            }
            self.waiting.insert(key, at);
            self.order.push_back((at, key));
        }
        let capture_point = match self.near.is_none_or(|near| near == from) == is_first {
            true => CapturePoint::Near,
            false => CapturePoint::Far,
        };
        (capture_point, is_first)
    }
}
