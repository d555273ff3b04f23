//! The event queue beside a list. Not in `queue.rs`, which a benchmark without proptest includes.

use proptest::prelude::*;
use rtolab_time::Instant;

use crate::queue::Queue;

proptest! {
    #[test]
    fn the_next_event_is_the_earliest_and_of_the_lowest_entity(
        entities in 1_usize..40,
        changes in prop::collection::vec((0_usize..40, 0_u64..20), 0..200),
    ) {
        let mut queue = Queue::new(entities);
        let mut naive = vec![Instant::NEVER; entities];
        for (entity, at) in changes {
            let entity = entity % entities;
            let at = if at == 19 { Instant::NEVER } else { Instant::from_nanos(at) };
            queue.set(entity, at);
            naive[entity] = at;
            let expected = naive.iter().enumerate().map(|(i, at)| (*at, i)).min().unwrap();
            let first = queue.first();
            prop_assert!(first == expected || (first.0, expected.0) == (Instant::NEVER, Instant::NEVER));
        }
    }
}
