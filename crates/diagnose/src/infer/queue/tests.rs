//! Tests of queues. The link sends 1 Mbit/s, so a packet of 1040 bytes takes 8.32 ms.

use super::*;

/// The size of a packet with headers, in bytes.
const SIZE: u32 = 1040;
/// The transmission time of a packet, in seconds.
const TAKES: f64 = 0.00832;
/// The number of packets that the queue holds.
const HELD: usize = 5;

/// Packets that the sender sends at these times in seconds, with their fates.
#[derive(Default)]
struct Traffic(Vec<Sent>);

impl Traffic {
    fn send(&mut self, t: f64, lost: bool) -> &mut Self {
        let frame = self.0.len() as i64;
        let (seq, end, number) = (1000 * frame, 1000 * (frame + 1), frame as u32 + 1);
        self.0.push(Sent { t, seq, end, frame, lost, number, tail_dropped: false, ack: 0 });
        self
    }

    /// A burst on the idle link, of packets that arrive and of packets that are lost then.
    fn burst(&mut self, arriving: usize, lost: usize) -> &mut Self {
        let t = self.0.last().map_or(0.0, |last| last.t + 1.0);
        (0..arriving).for_each(|_| _ = self.send(t, false));
        (0..lost).for_each(|_| _ = self.send(t, true));
        self
    }

    /// A burst that fills the queue, and the packets that it then drops.
    fn overflow(&mut self, drops: usize) -> &mut Self {
        // The link transmits the first packet, and the queue holds the others.
        self.burst(1 + HELD, drops)
    }

    /// Losses of packets that do not wait.
    fn losses(&mut self, count: usize) -> &mut Self {
        for _ in 0..count {
            self.burst(0, 1);
        }
        self
    }

    fn queue(&self) -> Option<(u32, Vec<Sent>)> {
        self.queue_with(&[])
    }

    /// The queue if the packets with these indices may have been lost.
    fn queue_with(&self, undecided: &[i64]) -> Option<(u32, Vec<Sent>)> {
        let link = Link::new(&[(0.0, 1e6)], 40);
        find_queue(&link, &self.0, &undecided.iter().copied().collect())
    }
}

#[test]
fn the_limit_lies_between_the_longest_accepted_length_and_the_shortest_refused_one() {
    let (limit, _) = Traffic::default().overflow(1).overflow(1).queue().unwrap();
    assert_eq!(limit, HELD as u32 * SIZE + SIZE / 2);
}

#[test]
fn a_queue_explains_two_losses_at_least_and_half_of_them() {
    assert!(Traffic::default().overflow(1).queue().is_none());
    assert!(Traffic::default().overflow(1).overflow(1).losses(2).queue().is_some());
    assert!(Traffic::default().overflow(1).overflow(1).losses(3).queue().is_none());
    assert!(Traffic::default().queue().is_none());
}

/// Of ten drops at most one packet may have passed a queue that was longer.
#[test]
fn packets_that_passed_a_longer_queue_contradict_its_limit() {
    // The queue of the last burst is longer than the limit and one packet, once.
    let with_drops = |drops| Traffic::default().overflow(drops).overflow(5).burst(8, 0).queue();
    assert!(with_drops(5).is_some());
    assert!(with_drops(4).is_none());
}

/// Whether a departure or an arrival at the same time came first is unknown.
#[test]
fn the_queue_drops_a_lost_packet_that_one_more_packet_would_keep_out() {
    let mut traffic = Traffic::default();
    traffic.overflow(2).overflow(2).overflow(2).burst(HELD, 1).burst(HELD - 1, 1);
    let (_, sent) = traffic.queue().unwrap();
    let is_dropped: Vec<bool> =
        sent.iter().filter(|packet| packet.lost).map(|packet| packet.tail_dropped).collect();
    assert_eq!(is_dropped, [true, true, true, true, true, true, true, false]);
}

/// A retransmission was unneeded, so one of two copies may have been lost.
#[test]
fn an_undecided_packet_is_dropped_where_the_queue_is_full() {
    let mut traffic = Traffic::default();
    traffic.overflow(2).overflow(1).burst(2 + HELD, 0);
    let last = traffic.0.len() as i64 - 1;
    let dropped = |undecided: &[i64]| {
        let (_, sent) = traffic.queue_with(undecided).unwrap();
        (sent[last as usize].tail_dropped, sent[last as usize - 1].tail_dropped)
    };
    assert_eq!(dropped(&[]), (false, false));
    assert_eq!(dropped(&[last, last - 1]), (true, false));
}

/// Would they count, a limit of four packets would contradict fewer.
#[test]
fn undecided_packets_do_not_change_the_limit() {
    let mut traffic = Traffic::default();
    traffic.overflow(1).overflow(1);
    let begin = traffic.0.len() as i64;
    for _ in 0..3 {
        traffic.burst(2 + HELD, 0);
    }
    let undecided: Vec<i64> = (begin..traffic.0.len() as i64).collect();
    let (limit, _) = traffic.queue_with(&undecided).unwrap();
    assert_eq!(limit, HELD as u32 * SIZE + SIZE / 2);
    assert!(traffic.queue().is_none_or(|(without, _)| without > limit));
}

/// The lengths at the arrival of packets, in packets.
fn lengths(times: &[(f64, bool)]) -> Vec<u32> {
    let mut traffic = Traffic::default();
    for &(t, lost) in times {
        traffic.send(t * TAKES, lost);
    }
    let arrivals = find_arrivals(&Link::new(&[(0.0, 1e6)], 40), &drop_all_lost(&traffic.0));
    assert!(arrivals.iter().all(|one| one.size == SIZE && one.length % SIZE == 0));
    arrivals.iter().map(|one| one.length / SIZE).collect()
}

/// Times are in transmission times. The link transmits one packet, which is not in the queue.
#[test]
fn the_queue_holds_the_packets_whose_transmission_has_not_begun() {
    let at_once = [(0.0, false), (0.0, false), (0.0, false)];
    assert_eq!(lengths(&at_once), [0, 1, 2]);
    let then = |t| lengths(&[&at_once[..], &[(t, false)]].concat())[3];
    assert_eq!([0.5, 1.5, 2.5, 3.5].map(then), [3, 2, 1, 0]);
    // A quarter of a transmission time is the tolerance for simultaneous events.
    assert_eq!([0.7, 0.8].map(then), [3, 2]);
}

#[test]
fn a_dropped_packet_takes_no_room() {
    assert_eq!(lengths(&[(0.0, false), (0.0, false), (0.0, true), (0.0, false)]), [0, 1, 2, 2]);
    assert_eq!(lengths(&[(0.0, true), (0.0, false)]), [0, 0]);
}
