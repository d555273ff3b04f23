//! A path whose MTU becomes smaller (RFC 1191, RFC 8201, RFC 5927).

use std::collections::BTreeMap;

use crate::script::base;
use crate::script::pair::{End, at, connected};
use rtolab_tcp::{Config, Event, Segment, Seq, specification};

/// Milliseconds each way; the router with the small MTU is halfway.
const DELAY: u64 = 20;
const SENDERS: [&str; 9] =
    ["tahoe", "reno", "newreno", "sack", "sack+frto", "rack", "linux", "linux-2.4", "rack+bbr"];
const SMALL: u16 = 400;

enum Arrival {
    Data(Segment),
    Ack(Segment),
    TooBig(Seq),
}

/// A transfer over a path that carries segments of at most [`SMALL`] bytes once `limit_from` is
/// acknowledged.
struct Transfer {
    sender: End,
    receiver: End,
    arrivals: BTreeMap<(u64, usize), Arrival>,
    order: usize,
    now: u64,
    limit_from: u64,
    /// Does the router report the first segment that it drops?
    reports: bool,
    reported: bool,
    /// The longest segment sent since the report arrived.
    longest: u32,
}

impl Transfer {
    fn new(spec: &str, bytes: u64, limit_from: u64) -> Self {
        let config = specification::sender(spec, &base()).unwrap();
        let receiver = Config { sack: config.sack, ..base() };
        let (mut sender, receiver) = connected(&config, &receiver, 0);
        sender.connection.write(bytes);
        Self {
            sender,
            receiver,
            arrivals: BTreeMap::new(),
            order: 0,
            now: 0,
            limit_from,
            reports: true,
            reported: false,
            longest: 0,
        }
    }

    fn acknowledged(&self) -> u64 {
        self.sender.una().since(Seq::FIRST + 1)
    }

    fn arrive(&mut self, delay: u64, arrival: Arrival) {
        self.order += 1;
        self.arrivals.insert((self.now + delay, self.order), arrival);
    }

    fn drain(&mut self) {
        for segment in self.sender.sends(self.now) {
            self.longest = self.longest.max(segment.len);
            if segment.len > u32::from(SMALL) && self.acknowledged() >= self.limit_from {
                if self.reports && !std::mem::replace(&mut self.reported, true) {
                    self.arrive(DELAY, Arrival::TooBig(segment.seq));
                }
            } else {
                self.arrive(DELAY, Arrival::Data(segment));
            }
        }
        for segment in self.receiver.sends(self.now) {
            self.arrive(DELAY, Arrival::Ack(segment));
        }
    }

    /// The next event.
    fn step(&mut self) {
        let millis =
            |end: &End| end.connection.next_timer().map(|at| at.nanos().div_ceil(1_000_000));
        let timer = millis(&self.sender).into_iter().chain(millis(&self.receiver)).min();
        let arrival = self.arrivals.keys().next().map(|(at, _)| *at);
        self.now = timer.into_iter().chain(arrival).min().expect("nothing happens any more");
        match self.arrivals.first_entry().filter(|entry| entry.key().0 <= self.now) {
            None => {
                self.sender.connection.on_timer(at(self.now));
                self.receiver.connection.on_timer(at(self.now));
            }
            Some(entry) => match entry.remove() {
                Arrival::Data(segment) => {
                    self.receiver.gets(&segment, self.now);
                    self.receiver.connection.read(u64::MAX);
                }
                Arrival::Ack(segment) => self.sender.gets(&segment, self.now),
                Arrival::TooBig(seq) => self.too_big(seq),
            },
        }
        self.drain();
    }

    fn too_big(&mut self, seq: Seq) {
        let cwnd = self.sender.connection.sender().window().cwnd();
        assert!(self.sender.connection.on_packet_too_big(seq, SMALL, at(self.now)));
        assert_eq!(self.sender.connection.sender().window().cwnd(), cwnd);
        assert_eq!(self.sender.connection.sender().window().smss(), u64::from(SMALL));
        self.longest = 0;
    }

    fn run(&mut self, bytes: u64) {
        self.drain();
        while self.acknowledged() < bytes {
            self.step();
            assert!(self.now < 20_000, "{} of {bytes} bytes", self.acknowledged());
        }
    }
}

#[test]
fn what_was_too_big_is_retransmitted_in_parts_at_once() {
    for spec in SENDERS {
        for limit_from in [0, 30_000] {
            let mut transfer = Transfer::new(spec, 100_000, limit_from);
            transfer.run(100_000);
            assert!(transfer.reported, "{spec}");
            assert_eq!(transfer.longest, u32::from(SMALL), "{spec}");
            let is_loss = |event: &&Event| {
                matches!(event, Event::Timeout(_) | Event::FastRetransmit(_) | Event::Probe(_))
            };
            let losses: Vec<_> = transfer.sender.events.iter().filter(is_loss).collect();
            assert!(losses.is_empty(), "{spec}, limited from {limit_from}: {losses:?}");
        }
    }
}

/// The router reports the segment that the timer retransmits.
#[test]
fn a_report_after_a_timeout_ends_the_black_hole() {
    for spec in SENDERS {
        let mut transfer = Transfer::new(spec, 50_000, 10_000);
        transfer.reports = false;
        transfer.drain();
        while !transfer.sender.events.iter().any(|event| matches!(event, Event::Timeout(_))) {
            transfer.step();
        }
        let una = transfer.sender.una();
        transfer.too_big(una);
        transfer.drain();
        transfer.run(50_000);
        assert_eq!(transfer.longest, u32::from(SMALL), "{spec}");
    }
}

/// RFC 5927 section 4.1.
#[test]
fn a_message_about_a_segment_that_is_not_in_flight_is_ignored() {
    let (mut sender, _) = connected(&base(), &base(), 0);
    sender.connection.write(5_000);
    let sent = sender.sends(0);
    let max = sent.last().unwrap().end();
    let connection = &mut sender.connection;
    for seq in [Seq::FIRST, max, max + 1] {
        assert!(!connection.on_packet_too_big(seq, SMALL, at(1)), "{seq:?}");
    }
    assert_eq!(connection.sender().window().smss(), 1000);
    // A path MTU that is not smaller changes nothing.
    assert!(connection.on_packet_too_big(sent[0].seq, 1000, at(1)));
    assert_eq!(connection.sender().window().smss(), 1000);
    sender.sends_nothing(1);
}

#[test]
fn timestamps_reduce_the_payload_and_the_least_mss_bounds_it() {
    let mut config = Config { timestamps: true, ..base() };
    config.timestamp.in_mss = true;
    config.connection.min_peer_mss = 100;
    let (mut sender, _) = connected(&config, &config, 0);
    sender.connection.write(5_000);
    let seq = sender.sends(0)[0].seq;
    for (mss, payload) in [(500, 488), (50, 88)] {
        assert!(sender.connection.on_packet_too_big(seq, mss, at(1)));
        assert_eq!(sender.connection.sender().window().smss(), payload);
    }
}
