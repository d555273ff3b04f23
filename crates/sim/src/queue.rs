//! The event queue: one event per entity, in a winner tree.

use rtolab_time::Instant;

/// The next event of every entity, the earliest first. Of events at the same instant, that of the
/// lowest entity comes first.
///
/// The leaves of the winner tree are the entities. Each inner node has the number of the earlier of
/// its two children. A change replays one path from leaf to root.
#[derive(Clone, Debug)]
pub struct Queue {
    /// The instant of each entity's event.
    slots: Vec<Instant>,
    /// `winners[1]` is the root; the children of `i` are `2 i` and `2 i + 1`.
    winners: Vec<u32>,
    /// The number of leaves, a power of two.
    leaves: usize,
    /// The root, with its instant.
    first: (Instant, u32),
}

impl Queue {
    /// A queue for `entities` without events.
    pub fn new(entities: usize) -> Self {
        let leaves = entities.max(2).next_power_of_two();
        // All events are equal, so the lowest entity of each subtree wins.
        let lowest = |node: usize| {
            let depth = usize::BITS - 1 - node.leading_zeros();
            ((node << (leaves.ilog2() - depth)) - leaves) as u32
        };
        let winners = (0..leaves).map(|node| if node == 0 { 0 } else { lowest(node) }).collect();
        let slots = vec![Instant::NEVER; leaves];
        Self { slots, winners, leaves, first: (Instant::NEVER, 0) }
    }

    /// The instant of the next event, and its entity.
    #[inline]
    pub fn first(&self) -> (Instant, usize) {
        (self.first.0, self.first.1 as usize)
    }

    /// The instant of the entity's event.
    #[inline]
    pub fn slot(&self, entity: usize) -> &Instant {
        &self.slots[entity]
    }

    /// Removes the entity's event. The tree is out of date until [`Queue::set`] or
    /// [`Queue::settle`].
    #[inline]
    pub fn take(&mut self, entity: usize) {
        self.slots[entity] = Instant::NEVER;
    }

    /// Brings the tree up to date if the entity got no other event since [`Queue::take`].
    #[inline]
    pub fn settle(&mut self, entity: usize) {
        if self.slots[entity] == Instant::NEVER {
            self.replay(entity, Instant::NEVER);
        }
    }

    /// Sets the entity's event.
    pub fn set(&mut self, entity: usize, at: Instant) {
        if self.slots[entity] != at {
            self.slots[entity] = at;
            self.replay(entity, at);
        }
    }

    fn replay(&mut self, entity: usize, at: Instant) {
        let sibling = entity ^ 1;
        let mut best = earlier((at, entity as u32), (self.slots[sibling], sibling as u32));
        let mut node = (self.leaves + entity) >> 1;
        loop {
            if self.winners[node] == best.1 && best.1 != entity as u32 {
                // The same entity won before, so nothing changes up to the root.
                return;
            }
            self.winners[node] = best.1;
            if node == 1 {
                break;
            }
            let other = self.winners[node ^ 1];
            best = earlier(best, (self.slots[other as usize], other));
            node >>= 1;
        }
        self.first = best;
    }
}

/// The earlier event; of two at the same instant that of the lower entity.
fn earlier(a: (Instant, u32), b: (Instant, u32)) -> (Instant, u32) {
    if b < a { b } else { a }
}
