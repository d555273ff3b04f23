//! The limit of the queue before the link, inferred from its length at each loss.

#[cfg(test)]
mod tests;

use std::collections::{HashSet, VecDeque};

use super::link::{Link, Sent};

/// The minimum number of drops from which a queue is inferred.
const MIN_DROPS: usize = 2;
/// The maximum number of iterations. Each drop shortens the queue, so that other packets fit.
const MAX_ROUNDS: u32 = 8;
/// The smallest part of the losses that a full queue must explain.
const SHARE: f64 = 0.5;
/// The maximum number of contradictions, as a part of the drops.
const MAX_CONTRADICTIONS: f64 = 0.1;
/// The tolerance for simultaneous events, as a part of a packet's transmission time. ACK clocking
/// makes packets arrive at the times at which others leave.
const SIMULTANEOUS: f64 = 0.25;

/// A packet that arrives at the queue.
struct Arrival {
    packet: Sent,
    size: u32,
    /// The length of the queue with it, in bytes; zero if the link is idle.
    length: u32,
}

impl Arrival {
    /// Does the queue drop it? A lost packet counts as dropped if one more packet would exceed the
    /// limit, because the order of a simultaneous arrival and departure is unknown.
    fn is_tail_dropped(&self, limit: u32, undecided: &HashSet<i64>) -> bool {
        let lost = self.packet.lost && self.length + self.size > limit;
        lost || undecided.contains(&self.packet.frame) && self.length > limit
    }
}

/// The limit of the drop-tail queue in bytes that explains most losses, and the packets, with
/// `tail_dropped` set in those that it drops. `None` if no limit explains them. `undecided` are
/// frames that may have been lost, because the retransmissions were unneeded.
///
/// The limit lies between the longest queue that accepted a packet and the shortest queue that
/// dropped one, so it is known to a packet's size. Losses at a short queue have other causes.
pub(crate) fn find_queue(
    link: &Link,
    sent: &[Sent],
    undecided: &HashSet<i64>,
) -> Option<(u32, Vec<Sent>)> {
    let lost = sent.iter().filter(|packet| packet.lost).count();
    let mut tried = drop_all_lost(sent);
    let (mut arrivals, mut limit) = (Vec::new(), 0);
    for _ in 0..MAX_ROUNDS {
        arrivals = find_arrivals(link, &tried);
        limit = find_limit(&arrivals, undecided);
        let decide = |one: &Arrival| {
            let tail_dropped = one.is_tail_dropped(limit, undecided);
            Sent { tail_dropped, ..one.packet }
        };
        let refined: Vec<Sent> = arrivals.iter().map(decide).collect();
        if refined == tried {
            break;
        }
        tried = refined;
    }
    let tail_dropped = tried.iter().filter(|packet| packet.tail_dropped && packet.lost).count();
    let against = |one: &&Arrival| !one.packet.tail_dropped && one.length > limit + one.size;
    let contradictions = arrivals.iter().filter(against).count() as f64;
    let enough = tail_dropped >= MIN_DROPS && tail_dropped as f64 >= SHARE * lost as f64;
    (limit > 0 && enough && contradictions <= MAX_CONTRADICTIONS * tail_dropped as f64)
        .then_some((limit, tried))
}

/// The packets, with `tail_dropped` set in all lost ones.
pub(crate) fn drop_all_lost(sent: &[Sent]) -> Vec<Sent> {
    sent.iter().map(|packet| Sent { tail_dropped: packet.lost, ..*packet }).collect()
}

/// The arrivals at the queue. The queue holds the packets whose transmission has not begun.
fn find_arrivals(link: &Link, sent: &[Sent]) -> Vec<Arrival> {
    let mut waiting: VecDeque<(f64, u32)> = VecDeque::new();
    let (mut length, mut idle_from) = (0, 0.0);
    let enqueue = |(packet, leaves): (&Sent, rtolab_time::Instant)| {
        let size = link.size(packet);
        let near = packet.t + SIMULTANEOUS * link.transmission(size, packet.t);
        while let Some((_, gone)) = waiting.front().filter(|(begins, _)| *begins <= near) {
            length -= gone;
            waiting.pop_front();
        }
        let waits = idle_from > packet.t;
        let arrival =
            Arrival { packet: *packet, size, length: if waits { length + size } else { 0 } };
        if !packet.tail_dropped {
            if waits {
                waiting.push_back((idle_from, size));
                length += size;
            }
            idle_from = leaves.secs_f64();
        }
        arrival
    };
    sent.iter().zip(link.departures(sent)).map(enqueue).collect()
}

/// The limit in bytes that best separates the lost packets from the others. Undecided packets do
/// not count.
fn find_limit(arrivals: &[Arrival], undecided: &HashSet<i64>) -> u32 {
    let mut ordered: Vec<&Arrival> =
        arrivals.iter().filter(|one| !undecided.contains(&one.packet.frame)).collect();
    ordered.sort_by_key(|one| one.length);
    // How many more packets each limit contradicts than a limit of zero does.
    let mut contradictions = 0;
    let mut found = (contradictions, 0);
    for (at, one) in ordered.iter().enumerate().filter(|(_, one)| one.length > 0) {
        contradictions += if one.packet.lost { 1 } else { -1_i32 };
        let follows = ordered.get(at + 1).map_or(one.length, |next| next.length);
        if contradictions < found.0 {
            found = (contradictions, u32::midpoint(one.length, follows));
        }
    }
    found.1
}
