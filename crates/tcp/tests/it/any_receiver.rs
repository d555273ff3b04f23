//! Whatever the knobs of a receiver, it acknowledges all that it has, and soon.

use std::sync::Arc;

use crate::script::any;
use proptest::prelude::*;
use rtolab_tcp::receiver::{AckDue, Receiver, SackUse};
use rtolab_tcp::{Config, Flags, Segment, Seq};
use rtolab_time::{Duration, Instant};

const SEGMENT: u32 = 100;

/// A segment, by its distance from RCV.NXT in segments and whether it is pushed, and the
/// milliseconds that pass before it.
type Arrival = (i64, bool, u64);

fn arrival() -> impl Strategy<Value = Arrival> {
    let distance = prop_oneof![6 => Just(0_i64), 2 => 0..5_i64, 1 => -5..0_i64];
    (distance, any::<bool>(), prop_oneof![3 => 0..5_u64, 1 => 0..700_u64])
}

struct Watched {
    config: Config,
    receiver: Receiver,
    at: Instant,
    /// Since when there has been something to acknowledge.
    since: Option<Instant>,
    /// Segments since then that were the next one expected.
    pending: u32,
}

impl Watched {
    fn new(config: Config) -> Self {
        let mut receiver = Receiver::new(Arc::new(config.clone()));
        receiver.synchronise(&Segment::new(Seq::FIRST, 0, Flags::SYN));
        Self { config, receiver, at: Instant::START, since: None, pending: 0 }
    }

    fn arrives(&mut self, (distance, pushed, wait): Arrival) -> Result<(), TestCaseError> {
        let end = self.at + Duration::from_millis(wait);
        while let AckDue::At(due) = self.receiver.ack_due() {
            if due > end {
                break;
            }
            self.at = due;
            self.receiver.on_timer(due);
            self.leaves()?;
        }
        self.at = end;
        let before = self.receiver.nxt();
        let offset = distance * i64::from(SEGMENT);
        let start = before.value().saturating_add_signed(offset).max(Seq::FIRST.value() + 1);
        let flags = if pushed { Flags::ACK | Flags::PSH } else { Flags::ACK };
        self.receiver.take(&Segment::new(Seq::new(start), SEGMENT, flags), self.at);
        let available = self.receiver.available();
        self.receiver.read(available);
        if self.receiver.nxt() > before {
            self.since.get_or_insert(self.at);
            self.pending += 1;
        }
        self.check()?;
        self.leaves()
    }

    /// Nothing waits for longer than it may, and nothing is forgotten.
    fn check(&self) -> Result<(), TestCaseError> {
        let knobs = &self.config.receiver;
        match (self.receiver.ack_due(), self.since) {
            (AckDue::No, since) => prop_assert_eq!(since, None),
            (AckDue::At(due), Some(since)) => {
                prop_assert!(due > self.at || knobs.delayed_ack.is_zero(), "{due} has passed");
                prop_assert!(due <= since + knobs.delayed_ack, "{due} is late for {since}");
                prop_assert!(self.pending < knobs.ack_every, "{} segments", self.pending);
            }
            (AckDue::At(due), None) => {
                let longest = knobs.delayed_dupacks.expect("only duplicates wait");
                prop_assert!(due <= self.at + longest);
            }
            (AckDue::Now, _) => {}
        }
        Ok(())
    }

    /// All acknowledgments that are due leave.
    fn leaves(&mut self) -> Result<(), TestCaseError> {
        let mut left = 0;
        while self.receiver.ack_due() == AckDue::Now {
            let mut ack = Segment::new(Seq::FIRST, 0, Flags::ACK);
            (ack.ack, ack.window) = (self.receiver.nxt(), self.receiver.window(SEGMENT));
            self.receiver.acknowledge(&mut ack, SackUse::WithDuplicates);
            prop_assert!(ack.sack_count() <= self.config.receiver.max_sack_blocks as usize);
            (self.since, self.pending) = (None, 0);
            left += 1;
            prop_assert!(left <= 1_000, "acknowledgments without end");
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    #[test]
    fn no_acknowledgment_is_late_or_missing(
        config in any::receiver(),
        arrivals in prop::collection::vec(arrival(), 1..100),
    ) {
        let mut watched = Watched::new(config);
        for arrival in arrivals {
            watched.arrives(arrival)?;
        }
    }
}
