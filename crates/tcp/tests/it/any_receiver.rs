//! Whatever its settings are, a receiver acknowledges all data that it has, in time.

use std::sync::Arc;

use crate::script::any;
use proptest::prelude::*;
use rtolab_tcp::receiver::{AckDue, Receiver, SackUse};
use rtolab_tcp::{Config, Flags, Segment, Seq};
use rtolab_time::{Duration, Instant};

const SEGMENT: u32 = 100;

/// A segment: its distance from RCV.NXT in segments, whether it has PSH, and the milliseconds that
/// pass before it.
type Arrival = (i64, bool, u64);

fn arrival() -> impl Strategy<Value = Arrival> {
    let distance = prop_oneof![6 => Just(0_i64), 2 => 0..5_i64, 1 => -5..0_i64];
    (distance, any::<bool>(), prop_oneof![3 => 0..5_u64, 1 => 0..700_u64])
}

struct CheckedReceiver {
    config: Config,
    receiver: Receiver,
    at: Instant,
    /// The time since which data waits for an acknowledgment.
    since: Option<Instant>,
    /// In-order segments since then.
    pending: u32,
}

impl CheckedReceiver {
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
            self.send_acks()?;
        }
        self.at = end;
        let before = self.receiver.rcv_nxt();
        let offset = distance * i64::from(SEGMENT);
        let start = before.value().saturating_add_signed(offset).max(Seq::FIRST.value() + 1);
        let flags = if pushed { Flags::ACK | Flags::PSH } else { Flags::ACK };
        self.receiver.take(&Segment::new(Seq::new(start), SEGMENT, flags), self.at);
        let available = self.receiver.available();
        self.receiver.read(available);
        if self.receiver.rcv_nxt() > before {
            self.since.get_or_insert(self.at);
            self.pending += 1;
        }
        self.check()?;
        self.send_acks()
    }

    /// Checks that no acknowledgment is late and none is missing.
    fn check(&self) -> Result<(), TestCaseError> {
        let settings = &self.config.receiver;
        match (self.receiver.ack_due(), self.since) {
            (AckDue::No, since) => prop_assert_eq!(since, None),
            (AckDue::At(due), Some(since)) => {
                prop_assert!(due > self.at || settings.delayed_ack.is_zero(), "{due} has passed");
                prop_assert!(due <= since + settings.delayed_ack, "{due} is late for {since}");
                prop_assert!(self.pending < settings.ack_every, "{} segments", self.pending);
            }
            (AckDue::At(due), None) => {
                let longest = settings.delayed_dupacks.expect("only duplicates wait");
                prop_assert!(due <= self.at + longest);
            }
            (AckDue::Now, _) => {}
        }
        Ok(())
    }

    /// Sends all acknowledgments that are due.
    fn send_acks(&mut self) -> Result<(), TestCaseError> {
        let mut sent = 0;
        while self.receiver.ack_due() == AckDue::Now {
            let mut ack = Segment::new(Seq::FIRST, 0, Flags::ACK);
            (ack.ack, ack.window) = (self.receiver.rcv_nxt(), self.receiver.window(SEGMENT));
            self.receiver.acknowledge(&mut ack, SackUse::WithDuplicates);
            prop_assert!(ack.sack_count() <= self.config.receiver.max_sack_blocks as usize);
            (self.since, self.pending) = (None, 0);
            sent += 1;
            prop_assert!(sent <= 1_000, "too many acknowledgments");
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
        let mut checked = CheckedReceiver::new(config);
        for arrival in arrivals {
            checked.arrives(arrival)?;
        }
    }
}
