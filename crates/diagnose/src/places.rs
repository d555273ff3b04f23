//! A connection whose packets were captured at two places of its path, in one capture: each place
//! sees every packet at its own time, and is diagnosed on its own.

use std::collections::{HashMap, VecDeque};

use rtolab_capture::{CapturedPacket, End};
use rtolab_time::{Duration, Instant};

use crate::duplicates::{Print, print};

/// Copies of a packet at two places are at least this far apart.
pub(crate) const APART: Duration = Duration::from_millis(1);
/// In a capture without the handshake, this many such copies show two places.
pub(crate) const COPIES: u32 = 3;
/// If the first copies are not known from the handshake on, the packets on their way, and those of
/// this time, are not diagnosed.
const SETTLING: Duration = Duration::from_secs(1);
/// The longest time between the two places.
const LONGEST: Duration = Duration::from_secs(60);
/// The most packets that wait for their second copy.
const MOST_WAITING: usize = 1 << 16;

/// The place at which a packet was captured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Place {
    /// The only one, or the one that saw the connection first.
    #[default]
    Near,
    /// The other one.
    Far,
}

/// The packets that only one of two places has seen so far.
#[derive(Debug)]
pub(crate) struct Places {
    /// The end that is close to the first place. `None`: the clocks of the two places are apart,
    /// and the first copies of all packets are those of one place.
    near: Option<End>,
    waiting: HashMap<(bool, Print), Instant>,
    order: VecDeque<(Instant, (bool, Print))>,
    /// Until then nothing is diagnosed.
    pub settles: Instant,
}

impl Places {
    pub fn new(near: Option<End>, settles: Option<Instant>) -> Self {
        let (waiting, order) = (HashMap::new(), VecDeque::new());
        let settles = settles.map_or(Instant::START, |now| now + SETTLING);
        Self { near, waiting, order, settles }
    }

    /// The place at which this packet was captured.
    pub fn of(&mut self, from: End, packet: &CapturedPacket, at: Instant) -> (Place, bool) {
        let key = (from == End::Client, print(packet));
        let is_first = self.waiting.remove(&key).is_none();
        if is_first {
            let is_over = |&(then, _): &(Instant, _)| at.since(then) > LONGEST;
            while self.order.len() >= MOST_WAITING || self.order.front().is_some_and(is_over) {
                let Some((then, key)) = self.order.pop_front() else { break };
                if self.waiting.get(&key) == Some(&then) {
                    self.waiting.remove(&key);
                }
            }
            self.waiting.insert(key, at);
            self.order.push_back((at, key));
        }
        let place = match self.near.is_none_or(|near| near == from) == is_first {
            true => Place::Near,
            false => Place::Far,
        };
        (place, is_first)
    }
}
