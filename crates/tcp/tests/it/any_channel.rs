//! Whatever a channel loses, delays and reorders: a transfer finishes, and both ends close.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::script::any;
use proptest::prelude::*;
use rtolab_tcp::{Config, Connection, Event, Flags, Segment, State};
use rtolab_time::{Duration, Instant};

/// The fate of a frame: its delay in milliseconds, or `None` if it is lost.
type Fate = Option<u64>;

fn fates() -> impl Strategy<Value = Vec<Fate>> {
    let fate = |lost: u32, delayed: u32| {
        prop_oneof![
            20 => Just(Some(50_u64)),
            delayed => (0..500_u64).prop_map(Some),
            delayed / 4 + 1 => (0..30_000_u64).prop_map(Some),
            lost => Just(None),
        ]
    };
    // Bursts, too: several frames in a row have the same fate.
    let runs = (fate(8, 8), 1..12_usize).prop_map(|(fate, times)| vec![fate; times]);
    prop_oneof![
        prop::collection::vec(fate(4, 8), 0..300),
        prop::collection::vec(fate(20, 20), 0..200),
        prop::collection::vec(runs, 0..40).prop_map(|runs| runs.concat()),
    ]
}

/// Two hosts; the second one answers.
struct Transfer {
    configs: [Arc<Config>; 2],
    ends: [Option<Connection>; 2],
    /// Bytes that each host writes before it closes.
    writes: [u64; 2],
    /// Bytes that each host has read.
    reads: [u64; 2],
    events: [Vec<Event>; 2],
    at: Instant,
    wire: BTreeMap<(Instant, usize), (usize, Segment)>,
    fates: Vec<Fate>,
    sent: usize,
}

impl Transfer {
    fn new(configs: [Config; 2], writes: [u64; 2], fates: Vec<Fate>) -> Self {
        let configs = configs.map(|config| {
            // Longer than any frame is in flight, and than either end waits for the other.
            Arc::new(Config { msl: Duration::from_secs(36_000), ..config })
        });
        let mut opener = Connection::open(configs[0].clone());
        opener.write(writes[0]);
        opener.close();
        let mut transfer = Self {
            configs,
            ends: [Some(opener), None],
            writes,
            reads: [0, 0],
            events: [Vec::new(), Vec::new()],
            at: Instant::START,
            wire: BTreeMap::new(),
            fates,
            sent: 0,
        };
        transfer.drain(0);
        transfer
    }

    fn arrives(&mut self, to: usize, segment: &Segment) {
        if let Some(end) = &mut self.ends[to] {
            end.on_segment(segment, self.at);
            let available = end.receiver().available();
            end.read(available);
            self.reads[to] += available;
        } else {
            assert!(segment.flags.has(Flags::SYN));
            let mut end = Connection::accept(self.configs[to].clone(), segment);
            end.write(self.writes[to]);
            self.ends[to] = Some(end);
        }
        self.drain(to);
    }

    fn drain(&mut self, from: usize) {
        let Some(end) = &mut self.ends[from] else { return };
        while let Some(event) = end.poll_event() {
            self.events[from].push(event);
            if event == Event::PeerClosed && from == 1 {
                end.close();
            }
        }
        while let Some(segment) = end.poll_transmit(self.at) {
            let fate = self.fates.get(self.sent).copied().unwrap_or(Some(50));
            self.sent += 1;
            if let Some(delay) = fate {
                let key = (self.at + Duration::from_millis(delay), self.sent);
                self.wire.insert(key, (1 - from, segment));
            }
        }
    }

    /// One event: a frame or a timer.
    fn step(&mut self) {
        let frame = self.wire.keys().next().map_or(Instant::NEVER, |(at, _)| *at);
        let timer = |end: &Option<Connection>| {
            end.as_ref().and_then(Connection::next_timer).unwrap_or(Instant::NEVER)
        };
        let timers = [timer(&self.ends[0]), timer(&self.ends[1])];
        let first = timers[0].min(timers[1]);
        assert!(frame.min(first) < Instant::NEVER, "neither a frame nor a timer is left");
        if frame <= first {
            let ((at, _), (to, segment)) = self.wire.pop_first().unwrap();
            self.at = at;
            self.arrives(to, &segment);
        } else {
            let who = usize::from(timers[1] < timers[0]);
            self.at = first;
            self.ends[who].as_mut().unwrap().on_timer(first);
            self.drain(who);
        }
    }

    fn is_over(&self) -> bool {
        let closed =
            |end: &Option<Connection>| end.as_ref().is_some_and(|end| end.state() == State::Closed);
        closed(&self.ends[0]) && closed(&self.ends[1])
    }
}

/// More events than a transfer needs: five for every 1,000 bytes, five for every frame that is lost
/// or late, and a hundred in addition. None of 6,000 transfers took half of that.
fn max_events(transfer: &Transfer) -> usize {
    let data = transfer.writes.iter().sum::<u64>() as usize / 1000;
    let impaired = transfer.fates.iter().filter(|fate| **fate != Some(50)).count();
    5 * (data + impaired + 20)
}

fn finishes(mut transfer: Transfer) -> Result<(), TestCaseError> {
    let mut steps = 0;
    let limit = max_events(&transfer);
    while !transfer.is_over() {
        transfer.step();
        steps += 1;
        prop_assert!(steps <= limit, "no end after {} and {steps} events", transfer.at);
    }
    prop_assert_eq!(transfer.reads, [transfer.writes[1], transfer.writes[0]], "bytes delivered");
    for events in &transfer.events {
        let count = |event| events.iter().filter(|other| **other == event).count();
        prop_assert_eq!((count(Event::Connected), count(Event::Closed)), (1, 1));
        prop_assert_eq!(count(Event::Reset), 0);
    }
    prop_assert!(transfer.events[1].contains(&Event::PeerClosed));
    transfer.events.iter().try_for_each(|events| every_detector_decides_each_episode_once(events))
}

/// A sender's detector gives at most one verdict on each timeout or fast retransmit, and on nothing
/// else. F-RTO handles timeouts only, and decides each before the next one.
fn every_detector_decides_each_episode_once(events: &[Event]) -> Result<(), TestCaseError> {
    let (mut timed_out, mut episodes) = (false, 0);
    let mut verdicts = BTreeMap::new();
    for event in events {
        match event {
            Event::Timeout(_) => (timed_out, episodes) = (true, episodes + 1),
            Event::FastRetransmit(_) => episodes += 1,
            Event::Verdict { detector, verdict, .. }
                if detector.to_string().starts_with("frto") =>
            {
                prop_assert!(timed_out, "{detector} says {verdict:?} without a timeout");
                timed_out = false;
            }
            Event::Verdict { detector, verdict, .. } => {
                let times = verdicts.entry(detector.to_string()).or_insert(0);
                *times += 1;
                prop_assert!(*times <= episodes, "{detector} says {verdict:?} without an episode");
            }
            _ => {}
        }
    }
    Ok(())
}

fn some_bytes() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), 1..5_000_u64, 1..80_000_u64]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn a_transfer_finishes_over_any_channel(
        sender in any::sender(),
        receiver in any::receiver(),
        writes in (some_bytes(), some_bytes()),
        fates in fates(),
    ) {
        finishes(Transfer::new([sender, receiver], writes.into(), fates))?;
    }

    #[test]
    fn a_transfer_with_rack_finishes_over_any_channel(
        sender in any::sender_by_time(),
        receiver in any::receiver(),
        writes in (some_bytes(), some_bytes()),
        fates in fates(),
    ) {
        finishes(Transfer::new([sender, receiver], writes.into(), fates))?;
    }
}
