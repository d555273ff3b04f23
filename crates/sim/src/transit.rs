//! The packets in pipes, as a priority queue: a k-way merge of sorted runs.
//!
//! The time at which a packet leaves a pipe is known when it enters, and most packets enter in the
//! order in which they leave. So they wait in FIFO runs, each sorted by time. A packet that belongs
//! far before the end of its run waits in a binary heap. A winner tree over the heads of the runs
//! yields the next packet. The packets themselves are in a slab with a free list.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rtolab_link::Fifo;
use rtolab_net::Packet;
use rtolab_time::Instant;

use crate::prefetch::prefetch_packet;

/// The maximum number of packets before which a packet is inserted into its run. If there are more,
/// it goes to the heap.
const MAX_INSERT_DISTANCE: usize = 64;

/// The number of packets that fit the cache. If there are more, each is prefetched before it
/// leaves.
const PACKETS_IN_CACHE: usize = 4096;

/// The number of packets by which a batch prefetches ahead.
const PREFETCH_DISTANCE: usize = 6;

/// The number of packets whose flows fit the cache.
const PACKETS_OF_FLOWS_IN_CACHE: usize = 32_768;

/// The event that a packet leaves a pipe, or that the pipe's queue drops it. Of events at the same
/// instant, that of the lowest pipe comes first; of one pipe, departures come before drops.
///
/// An event is one integer, which compares fast: the instant, the pipe's number, one bit for a
/// drop, and 32 bits for a slot or run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PipeEvent(u128);

impl PipeEvent {
    /// The event that a packet leaves the pipe.
    #[inline]
    pub const fn exit(at: Instant, pipe: u32) -> Self {
        Self((at.nanos() as u128) << 64 | (pipe as u128) << 33)
    }

    /// The event that the pipe's queue drops a packet.
    pub const fn drop(at: Instant, pipe: u32) -> Self {
        Self(Self::exit(at, pipe).0 | 1 << 32)
    }

    const fn never() -> Self {
        Self::exit(Instant::NEVER, u32::MAX / 2)
    }

    /// Is this earlier than the event of a packet in a run?
    #[inline]
    const fn is_before(self, waiting: RunEntry) -> bool {
        self.0 | RunEntry::SLOT < waiting.0
    }

    #[inline]
    pub const fn at(self) -> Instant {
        Instant::from_nanos((self.0 >> 64) as u64)
    }

    /// The pipe's number.
    #[inline]
    pub const fn pipe(self) -> u32 {
        (self.0 as u64 >> 33) as u32
    }

    /// Does the pipe's queue drop the packet?
    #[inline]
    pub const fn is_drop(self) -> bool {
        self.0 & 1 << 32 != 0
    }
}

/// A packet's index in the slab.
pub type Slot = u32;

/// A packet in a run: its event, with its slot in the lowest bits.
#[derive(Clone, Copy, Debug)]
pub struct RunEntry(u128);

impl RunEntry {
    /// The bits of the slot.
    const SLOT: u128 = Slot::MAX as u128;

    #[inline]
    const fn new(due: PipeEvent, slot: Slot) -> Self {
        Self(due.0 | slot as u128)
    }

    #[inline]
    const fn slot(self) -> Slot {
        self.0 as Slot
    }

    #[inline]
    const fn due(self) -> PipeEvent {
        PipeEvent(self.0 & !Self::SLOT)
    }
}

/// The packets in pipes.
#[derive(Clone, Debug)]
pub struct Transit {
    packets: Vec<Packet>,
    /// The free slots, in the order in which they are reused. The slot that has been free for
    /// longest comes first, so that successive packets are neighbours in memory.
    free: Fifo<Slot>,
    runs: Vec<Fifo<RunEntry>>,
    /// Packets that belong far before the end of their run, with a number that keeps equal events
    /// in order.
    unordered: BinaryHeap<Reverse<(PipeEvent, u64, Slot)>>,
    number: u64,
    heads: Heads,
}

impl Transit {
    /// An empty queue of `runs` runs.
    pub fn new(runs: usize) -> Self {
        Self {
            packets: Vec::new(),
            free: Fifo::default(),
            runs: vec![Fifo::default(); runs],
            unordered: BinaryHeap::new(),
            number: 0,
            heads: Heads::new(runs + 1),
        }
    }

    /// Stores a packet.
    #[inline]
    pub fn put(&mut self, packet: &Packet) -> Slot {
        if let Some(slot) = self.free.pop() {
            if let Some(next) = self.free.oldest(1).filter(|_| self.exceeds_cache()) {
                prefetch_packet(&self.packets[*next as usize]);
            }
            self.packets[slot as usize] = *packet;
            return slot;
        }
        self.packets.push(*packet);
        self.packets.len() as Slot - 1
    }

    /// The size of a packet, and its next step.
    #[inline]
    pub fn bytes_and_step(&self, slot: Slot) -> (u32, u32) {
        let Packet { bytes, step, .. } = self.packets[slot as usize];
        (bytes, step)
    }

    /// The packet in a slot.
    #[inline]
    pub fn packet_mut(&mut self, slot: Slot) -> &mut Packet {
        &mut self.packets[slot as usize]
    }

    /// Frees a slot.
    #[inline]
    pub fn drop(&mut self, slot: Slot) {
        self.free.push(slot);
    }

    /// Removes the packet from its slot.
    #[inline]
    pub fn take(&mut self, slot: Slot) -> Packet {
        self.free.push(slot);
        self.packets[slot as usize]
    }

    /// Adds the packet to a run.
    #[inline(always)]
    pub fn push(&mut self, run: usize, due: PipeEvent, slot: Slot) {
        let waiting = &mut self.runs[run];
        match waiting.back() {
            None => {
                waiting.push(RunEntry::new(due, slot));
                self.heads.set(run, due);
            }
            Some(last) if due.is_before(*last) => self.insert(run, due, slot),
            Some(_) => waiting.push(RunEntry::new(due, slot)),
        }
    }

    /// Inserts the packet before others of its run.
    #[inline(never)]
    fn insert(&mut self, run: usize, due: PipeEvent, slot: Slot) {
        let waiting = &mut self.runs[run];
        if waiting.newest(MAX_INSERT_DISTANCE - 1).is_some_and(|other| due.is_before(*other)) {
            return self.push_unordered(due, slot);
        }
        let packet = RunEntry::new(due, slot);
        waiting.insert_before(packet, MAX_INSERT_DISTANCE - 1, |other| due.is_before(*other));
        if waiting.front().is_some_and(|first| first.slot() == slot) {
            self.heads.set(run, due);
        }
    }

    /// Adds the packet to the heap.
    #[inline(never)]
    pub fn push_unordered(&mut self, due: PipeEvent, slot: Slot) {
        self.unordered.push(Reverse((due, self.number, slot)));
        self.number += 1;
        self.update_unordered();
    }

    #[inline(never)]
    fn pop_unordered(&mut self) -> Option<Slot> {
        let first = self.unordered.pop().map(|Reverse((.., slot))| slot);
        self.update_unordered();
        first
    }

    fn update_unordered(&mut self) {
        let first = self.unordered.peek().map_or(PipeEvent::never(), |Reverse((due, ..))| *due);
        self.heads.set(self.runs.len(), first);
    }

    /// The next event; at [`Instant::NEVER`] if there is none.
    #[inline(always)]
    pub fn next(&self) -> PipeEvent {
        self.heads.first().1
    }

    /// Are there more packets than the cache holds?
    #[inline(always)]
    pub fn exceeds_cache(&self) -> bool {
        self.packets.len() > PACKETS_IN_CACHE
    }

    /// Do the flows of these packets exceed the cache, too?
    #[inline(always)]
    pub fn flows_exceed_cache(&self) -> bool {
        self.packets.len() > PACKETS_OF_FLOWS_IN_CACHE
    }

    /// The run of the next event, with its index; `None` if the event is in the heap.
    #[inline(always)]
    pub fn next_run(&self) -> Option<(usize, &Fifo<RunEntry>)> {
        let (run, _) = self.heads.first();
        Some((run, self.runs.get(run)?))
    }

    /// The index of the run of the next event; the number of runs if the event is in the heap.
    #[inline(always)]
    pub fn first_run(&self) -> usize {
        self.heads.first().0
    }

    /// The first event of all runs except `run` and the `excluded` ones; `None` if there are more
    /// than four runs, because the winner tree does not have it.
    pub fn first_except(&self, run: usize, excluded: impl Fn(usize) -> bool) -> Option<PipeEvent> {
        let Tournament::Few(heads) = &self.heads.all else { return None };
        let others =
            heads.iter().enumerate().filter(|(other, _)| *other != run && !excluded(*other));
        Some(others.map(|(_, head)| Heads::due(*head)).min().unwrap_or_else(PipeEvent::never))
    }

    /// The first event of a run.
    #[inline(always)]
    pub fn first_of(&self, run: usize) -> Option<(PipeEvent, Slot)> {
        self.runs[run].front().map(|first| (first.due(), first.slot()))
    }

    /// Removes the first packet of the run. The winner tree is out of date until
    /// [`update_head`](Self::update_head).
    #[inline(always)]
    pub fn pop_run(&mut self, run: usize) {
        self.runs[run].pop();
    }

    /// Prefetches a packet that will leave the run soon.
    #[inline(always)]
    pub fn prefetch_run(&self, run: usize) {
        if let Some(waiting) = self.runs[run].oldest(PREFETCH_DISTANCE) {
            prefetch_packet(self.waiting(*waiting));
        }
    }

    /// The packet `nth` positions after the head of the run.
    #[inline(always)]
    pub fn nth_of_run(&self, run: usize, nth: usize) -> Option<&Packet> {
        self.runs[run].oldest(nth).map(|waiting| self.waiting(*waiting))
    }

    /// Brings the winner tree up to date with the head of the run.
    #[inline(always)]
    pub fn update_head(&mut self, run: usize) {
        let next = self.runs[run].front().map_or(PipeEvent::never(), |packet| packet.due());
        self.heads.set(run, next);
    }

    /// The packet of an entry of a run.
    #[inline(always)]
    pub fn waiting(&self, waiting: RunEntry) -> &Packet {
        &self.packets[waiting.slot() as usize]
    }

    /// Removes the next event.
    #[inline(always)]
    pub fn pop(&mut self) -> Option<Slot> {
        let (run, _) = self.heads.first();
        let Some(waiting) = self.runs.get_mut(run) else { return self.pop_unordered() };
        let first = waiting.pop().map(RunEntry::slot);
        self.update_head(run);
        first
    }
}

/// The heads of the runs, each with the index of its run in the lowest bits. Of equal events, that
/// of the first run wins.
#[derive(Clone, Debug)]
struct Heads {
    first: u128,
    all: Tournament,
}

/// The data structure that finds the first head.
#[derive(Clone, Debug)]
enum Tournament {
    /// Up to four heads, which are all compared.
    Few([u128; 4]),
    /// A winner tree: `nodes[1]` is the root, the children of `i` are `2 i` and `2 i + 1`, and the
    /// leaves are the runs.
    Many(Vec<u128>),
}

impl Heads {
    fn new(runs: usize) -> Self {
        let all = match runs {
            0..=4 => Tournament::Few([u128::MAX; 4]),
            _ => Tournament::Many(vec![u128::MAX; 2 * runs.next_power_of_two()]),
        };
        let mut heads = Self { first: u128::MAX, all };
        (0..runs).for_each(|run| heads.set(run, PipeEvent::never()));
        heads
    }

    #[inline(always)]
    fn first(&self) -> (usize, PipeEvent) {
        (self.first as u32 as usize, Self::due(self.first))
    }

    const fn due(head: u128) -> PipeEvent {
        PipeEvent(head & !RunEntry::SLOT)
    }

    #[inline(always)]
    fn set(&mut self, run: usize, due: PipeEvent) {
        let head = due.0 | run as u128;
        self.first = match &mut self.all {
            Tournament::Few(heads) => {
                heads[run % 4] = head;
                let [a, b, c, d] = *heads;
                a.min(b).min(c.min(d))
            }
            Tournament::Many(nodes) => replay(nodes, run, head),
        };
    }
}

/// Replays the matches from the leaf of a changed run to the root.
#[inline(never)]
fn replay(nodes: &mut [u128], run: usize, head: u128) -> u128 {
    let mut best = head;
    let mut node = nodes.len() / 2 + run;
    nodes[node] = best;
    while node > 1 {
        best = best.min(nodes[node ^ 1]);
        node /= 2;
        nodes[node] = best;
    }
    best
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Some events are far ahead of others, so that packets belong far before the end of their
        /// run.
        #[test]
        fn packets_leave_in_order_of_time_and_those_of_one_pipe_in_order_of_entry(
            steps in prop::collection::vec((0..8_u32, 1..200_u64, prop::bool::ANY), 0..600),
        ) {
            let (mut transit, mut naive) = (Transit::new(3), Vec::new());
            let mut now = 0;
            for (slot, (pipe, ahead, far)) in (0..).zip(steps) {
                if pipe >= 6 {
                    let first = naive.iter().min().copied();
                    naive.retain(|waiting| Some(*waiting) != first);
                    let expected = first.map_or(Instant::NEVER, |(due, _): (PipeEvent, _)| due.at());
                    prop_assert_eq!(transit.next().at(), expected);
                    prop_assert_eq!(transit.pop(), first.map(|(_, slot)| slot));
                    now = first.map_or(now, |(due, _)| due.at().nanos());
                    continue;
                }
                let at = Instant::from_nanos(now + if far { 1000 } else { ahead / 20 + 1 });
                let due = PipeEvent::exit(at, pipe);
                transit.push(pipe as usize % 3, due, slot);
                naive.push((due, slot));
            }
            naive.sort_unstable();
            for (_, slot) in naive {
                prop_assert_eq!(transit.pop(), Some(slot));
            }
            prop_assert_eq!((transit.next().at(), transit.pop()), (Instant::NEVER, None));
        }
    }
}
