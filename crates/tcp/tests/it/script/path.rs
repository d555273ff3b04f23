//! A sender, a receiver, and a bottleneck with a queue between them, as a fluid script: a test says
//! what the path does, lets time pass and looks at the sender.

use std::collections::BTreeMap;
use std::collections::btree_map::OccupiedEntry;
use std::sync::Arc;

use rtolab_tcp::congestion::ModelState;
use rtolab_tcp::{Config, Connection, Event, Segment, specification};
use rtolab_time::{Duration, Instant};

/// What happens to a data segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Passes,
    Lost,
    /// It arrives this many milliseconds later, and others overtake it.
    Late(u64),
}

#[derive(Clone, Copy, Debug)]
enum To {
    Sender,
    Receiver,
}

/// The path and its ends. Segments have no headers on it.
pub struct Path {
    pub sender: Connection,
    receiver: Connection,
    pub now: Instant,
    arrivals: BTreeMap<(Instant, u64), (To, Segment)>,
    /// Bytes per second.
    pub rate: u64,
    /// Each way.
    pub delay: Duration,
    /// Bytes.
    pub queue: u64,
    busy: Instant,
    /// The fate of each data segment, by the number of its transmission.
    pub fate: Box<dyn FnMut(u64) -> Fate>,
    /// ACKs arrive at the multiples of this only.
    pub ack_slot: Duration,
    /// A policer in place of the bottleneck: bytes per second, the depth of its bucket in bytes,
    /// its tokens and when they were counted.
    pub policer: Option<(u64, u64, u64, Instant)>,
    /// The number of data segments sent, and of those dropped.
    pub sent: u64,
    pub dropped: u64,
    /// Data segments sent: when, and the number of bytes.
    pub departures: Vec<(Instant, u32)>,
    pub events: Vec<Event>,
    order: u64,
}

impl Path {
    /// A connection of sender `spec` over a path of `rate` bytes per second and `rtt` milliseconds,
    /// with a queue of `queue` bytes. The handshake is done.
    pub fn new(spec: &str, path: (u64, u64, u64)) -> Self {
        Self::with(&specification::sender(spec, &Self::config()).unwrap(), path)
    }

    /// The configuration of both ends before the sender's specification.
    pub fn config() -> Config {
        let mut config = Config { mss: 1000, window_scale: Some(7), ..Config::default() };
        config.timestamp.in_mss = false;
        config.dsack = true;
        config.receiver.buffer = 4_000_000;
        config.receiver.ack_every = 1;
        config
    }

    pub fn with(config: &Config, (rate, rtt, queue): (u64, u64, u64)) -> Self {
        let config = Arc::new(config.clone());
        let delay = Duration::from_millis(rtt) / 2;
        let mut sender = Connection::open(config.clone());
        let mut now = Instant::START + Duration::from_millis(1);
        let syn = sender.poll_transmit(now).unwrap();
        now += delay;
        let mut receiver = Connection::accept(config, &syn);
        let syn_ack = receiver.poll_transmit(now).unwrap();
        now += delay;
        sender.on_segment(&syn_ack, now);
        let mut path = Self {
            sender,
            receiver,
            now,
            arrivals: BTreeMap::new(),
            rate,
            delay,
            queue,
            busy: now,
            fate: Box::new(|_| Fate::Passes),
            ack_slot: Duration::ZERO,
            policer: None,
            sent: 0,
            dropped: 0,
            departures: Vec::new(),
            events: Vec::new(),
            order: 0,
        };
        path.drain();
        path
    }

    pub fn write(&mut self, bytes: u64) -> &mut Self {
        self.sender.write(bytes);
        self.drain();
        self
    }

    pub fn millis(&self) -> u64 {
        self.now.since(Instant::START).nanos() / 1_000_000
    }

    pub fn model(&self) -> ModelState {
        self.sender.sender().path_model().unwrap()
    }

    pub fn mode(&self) -> &'static str {
        self.model().mode
    }

    pub fn cwnd(&self) -> u64 {
        self.sender.sender().window().cwnd()
    }

    pub fn in_flight(&self) -> u64 {
        self.sender.sender().outstanding()
    }

    pub fn delivered(&self) -> u64 {
        self.sender.sender().flight().una().value()
    }

    /// The bytes per second that were acknowledged while `run` ran.
    pub fn goodput(&mut self, run: impl FnOnce(&mut Self)) -> f64 {
        let before = (self.now, self.delivered());
        run(self);
        (self.delivered() - before.1) as f64 / (self.now - before.0).secs_f64()
    }

    /// The bottleneck carries nothing for `millis`; what arrives there waits.
    pub fn busy_for(&mut self, millis: u64) {
        self.busy = self.busy.max(self.now) + Duration::from_millis(millis);
        self.queue += millis * self.rate / 1000;
    }

    /// The rate of the bottleneck changes, also for what waits there.
    pub fn set_rate(&mut self, rate: u64) {
        let (now, delay, before) = (self.now, self.delay, std::mem::replace(&mut self.rate, rate));
        let nanos =
            |wait: Duration| u128::from(wait.nanos()) * u128::from(before) / u128::from(rate);
        let later = |at: Instant| now + Duration::from_nanos(nanos(at.since(now)) as u64);
        self.busy = later(self.busy.max(now));
        for ((at, order), (to, segment)) in std::mem::take(&mut self.arrivals) {
            let waits = matches!(to, To::Receiver) && at > now + delay;
            let leaves = Instant::from_nanos(at.nanos().saturating_sub(delay.nanos()));
            let at = if waits { later(leaves) + delay } else { at };
            self.arrivals.insert((at, order), (to, segment));
        }
    }

    /// Lets `millis` pass.
    pub fn run(&mut self, millis: u64) -> &mut Self {
        let end = self.now + Duration::from_millis(millis);
        while self.next().is_some_and(|next| next <= end) {
            self.step();
        }
        self.now = end;
        self
    }

    /// Runs until `done`, for at most `millis`. Returns the time that it took.
    pub fn until(&mut self, millis: u64, mut done: impl FnMut(&Self) -> bool) -> u64 {
        let begin = self.millis();
        while !done(self) {
            assert!(self.millis() <= begin + millis, "not within {millis} ms: {:?}", self.model());
            assert!(self.next().is_some(), "nothing happens any more: {:?}", self.model());
            self.step();
        }
        self.millis() - begin
    }

    /// Runs until the model has this mode.
    pub fn until_mode(&mut self, mode: &str, millis: u64) -> u64 {
        self.until(millis, |path| path.mode() == mode)
    }

    fn next(&self) -> Option<Instant> {
        let arrival = self.arrivals.keys().next().map(|(at, _)| *at);
        let timers = [self.sender.next_timer(), self.receiver.next_timer(), arrival];
        timers.into_iter().flatten().min()
    }

    /// The next event.
    pub fn step(&mut self) {
        self.now = self.next().unwrap().max(self.now);
        let due = self.arrivals.first_entry().filter(|entry| entry.key().0 <= self.now);
        match due.map(OccupiedEntry::remove) {
            Some((To::Sender, segment)) => self.sender.on_segment(&segment, self.now),
            Some((To::Receiver, segment)) => {
                self.receiver.on_segment(&segment, self.now);
                self.receiver.read(u64::MAX);
            }
            None => {
                self.sender.on_timer(self.now);
                self.receiver.on_timer(self.now);
            }
        }
        self.drain();
    }

    fn drain(&mut self) {
        while let Some(event) = self.sender.poll_event() {
            self.events.push(event);
        }
        while let Some(segment) = self.sender.poll_transmit(self.now) {
            if segment.len == 0 {
                self.arrive(self.now + self.delay, To::Receiver, segment);
            } else {
                self.departures.push((self.now, segment.len));
                self.carry(segment);
            }
        }
        while let Some(event) = self.sender.poll_event() {
            self.events.push(event);
        }
        while self.receiver.poll_event().is_some() {}
        while let Some(segment) = self.receiver.poll_transmit(self.now) {
            let mut at = self.now + self.delay;
            if !self.ack_slot.is_zero() {
                let slot = self.ack_slot.nanos();
                at = Instant::from_nanos(at.nanos().next_multiple_of(slot));
            }
            self.arrive(at, To::Sender, segment);
        }
    }

    fn carry(&mut self, segment: Segment) {
        self.sent += 1;
        let fate = (self.fate)(self.sent);
        let waiting = u128::from(self.busy.since(self.now).nanos()) * u128::from(self.rate);
        let overflows = (waiting / 1_000_000_000) as u64 + u64::from(segment.len) > self.queue;
        if fate == Fate::Lost || overflows || !self.conforms(segment.len) {
            self.dropped += 1;
            return;
        }
        let nanos = u64::from(segment.len) * 1_000_000_000 / self.rate;
        self.busy = self.busy.max(self.now) + Duration::from_nanos(nanos);
        let late = if let Fate::Late(millis) = fate { millis } else { 0 };
        self.arrive(self.busy + self.delay + Duration::from_millis(late), To::Receiver, segment);
    }

    /// Does the policer pass `len` bytes?
    fn conforms(&mut self, len: u32) -> bool {
        let Some((rate, depth, tokens, counted)) = &mut self.policer else { return true };
        let new = u128::from(self.now.since(*counted).nanos()) * u128::from(*rate) / 1_000_000_000;
        (*tokens, *counted) = ((*tokens + new as u64).min(*depth), self.now);
        let passes = *tokens >= u64::from(len);
        *tokens -= if passes { u64::from(len) } else { 0 };
        passes
    }

    fn arrive(&mut self, at: Instant, to: To, segment: Segment) {
        self.order += 1;
        self.arrivals.insert((at, self.order), (to, segment));
    }
}
