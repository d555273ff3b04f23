//! A guess at the system that sends, by how its SYN looks and what it does.
//!
//! Every system lays out the options of its SYN in its own way, begins with one of three hop limits,
//! and has its own windows and shifts.

use rtolab_capture::{End, Offer};
use rtolab_tcp::{Flags, Segment};
use rtolab_time::Duration;
use serde::Serialize;

use crate::connection::Connection;
use crate::report::{Class, TimeoutReport};
use crate::trigger::Trigger;

/// Packets seldom pass more routers than this.
const MOST_HOPS: u8 = 40;
/// How much of the confidence each ground is worth: layout, order alone, hop limit, window, shift. A
/// ground that speaks against a system takes as large a part of the confidence that the others give.
const LAYOUT: f64 = 0.5;
const ORDER: f64 = 0.25;
const HOPS: f64 = 0.15;
const WINDOW: f64 = 0.2;
const SHIFT: f64 = 0.1;
/// No guess is surer.
const MOST: f64 = 0.95;
/// With less than this to speak for it a guess is none.
const LEAST: f64 = 0.5;
/// What a system does that others do not makes a guess surer by this.
const BEHAVIOUR: f64 = 0.05;
/// What it does not do takes this part of the confidence.
const CONTRARY: f64 = 0.2;

/// A system that a sender may be.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Guess {
    /// Its name.
    pub system: &'static str,
    /// How sure that is, between 0 and 1.
    pub confidence: f64,
    /// What speaks for it, and what against.
    pub grounds: Vec<String>,
    /// The frame of its SYN.
    pub frame: u64,
}

/// The SYN of an end, and how it looks.
#[derive(Clone, Debug)]
pub(crate) struct Opening {
    pub syn: Segment,
    pub offer: Offer,
    pub frame: u64,
}

/// What is known of a system.
struct System {
    name: &'static str,
    /// The kinds of the options of its SYNs: 1 pads, 2 MSS, 3 window scale, 4 SACK permitted,
    /// 8 timestamps, 0 the end.
    layouts: &'static [&'static [u8]],
    /// The hop limit that it begins with.
    hops: u8,
    window: Window,
    /// The shifts that it offers; `None`: any, which says nothing.
    shifts: Option<std::ops::RangeInclusive<u8>>,
    /// The shortest time after which its timer expires.
    least_timeout: Duration,
}

/// The window in a system's SYN.
enum Window {
    /// One of these.
    One(&'static [u32]),
    /// A whole number of segments, or of segments with timestamps, between these.
    Segments(std::ops::RangeInclusive<u32>),
    /// Anything up to this.
    Small(u32),
    /// Any, which says nothing.
    Any,
}

const SYSTEMS: [System; 9] = [
    System {
        name: "linux",
        layouts: &[&[2, 4, 8, 1, 3], &[2, 1, 1, 4, 1, 3], &[2, 1, 1, 8, 1, 3], &[2, 1, 3], &[2]],
        hops: 64,
        window: Window::Segments(10..=45),
        shifts: Some(5..=14),
        least_timeout: Duration::from_millis(200),
    },
    System {
        name: "windows",
        layouts: &[&[2, 1, 3, 1, 1, 4], &[2, 1, 3, 4, 8], &[2, 1, 3, 1, 1, 8, 4]],
        hops: 128,
        window: Window::One(&[8192, 64_240, 65_535]),
        shifts: Some(2..=8),
        least_timeout: Duration::from_millis(20),
    },
    System {
        name: "windows xp",
        layouts: &[&[2, 1, 1, 4]],
        hops: 128,
        window: Window::One(&[16_384, 64_240, 65_535]),
        shifts: Some(0..=0),
        least_timeout: Duration::from_millis(200),
    },
    System {
        name: "macos or ios",
        layouts: &[&[2, 1, 3, 1, 1, 8, 4, 0], &[2, 1, 3, 1, 1, 8, 4]],
        hops: 64,
        window: Window::One(&[65_535]),
        shifts: Some(1..=8),
        least_timeout: Duration::from_millis(200),
    },
    System {
        name: "freebsd",
        layouts: &[&[2, 1, 3, 4, 8], &[2, 1, 3, 4, 0]],
        hops: 64,
        window: Window::One(&[65_535, 65_228]),
        shifts: Some(3..=9),
        least_timeout: Duration::from_millis(200),
    },
    System {
        name: "openbsd",
        layouts: &[&[2, 1, 1, 4, 1, 3, 1, 1, 8]],
        hops: 64,
        window: Window::One(&[16_384]),
        shifts: Some(0..=6),
        least_timeout: Duration::from_millis(500),
    },
    System {
        name: "solaris",
        layouts: &[&[4, 8, 2, 1, 3], &[2, 1, 3, 1, 1, 4, 0]],
        hops: 64,
        window: Window::Segments(20..=45),
        shifts: Some(0..=5),
        least_timeout: Duration::from_millis(200),
    },
    System {
        name: "lwip",
        layouts: &[&[2], &[2, 1, 3], &[2, 1, 1, 4]],
        hops: 255,
        window: Window::Small(16_384),
        shifts: Some(0..=4),
        least_timeout: Duration::from_millis(250),
    },
    System {
        name: "rtolab",
        layouts: &[&[2, 1, 3, 1, 1, 4, 1, 1, 8], &[2, 1, 3, 1, 1, 8]],
        hops: 64,
        window: Window::Any,
        shifts: None,
        least_timeout: Duration::ZERO,
    },
];

/// The sender's system, if its SYN is like that of one.
pub(crate) fn guess<'a>(
    connection: &Connection,
    sender: End,
    triggers: impl Iterator<Item = Trigger>,
    timeouts: impl Iterator<Item = &'a TimeoutReport>,
) -> Option<Guess> {
    let opening = connection.handshake.openings[sender as usize].as_ref()?;
    let looks = SYSTEMS.iter().map(|system| (system.like(opening), system));
    // The first of equals is the more common one.
    let surer =
        |one: &Looks, other: &Looks| one.grounds().confidence() > other.grounds().confidence();
    let best = looks.reduce(|best, one| if surer(&one.0, &best.0) { one } else { best });
    let (looks, system) = best.filter(|(looks, _)| looks.grounds().worth >= LEAST)?;
    let mut grounds = looks.grounds();
    let mut told = looks.told(opening);
    system.behaves((&mut grounds, &mut told), triggers, timeouts);
    let confidence = grounds.confidence().min(MOST);
    Some(Guess { system: system.name, confidence, grounds: told, frame: opening.frame })
}

/// How a SYN is like those of a system.
#[derive(Clone, Copy, Debug)]
struct Looks {
    layout: Layout,
    hops: bool,
    /// `None` where any is like it.
    window: Option<bool>,
    /// Likewise.
    shift: Option<bool>,
}

/// How its options are like those of the system's SYNs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    Same,
    /// In the same order.
    Ordered,
    Other,
}

impl Looks {
    fn grounds(self) -> Grounds {
        let (layout_fits, worth) = match self.layout {
            Layout::Same => (true, LAYOUT),
            Layout::Ordered => (true, ORDER),
            Layout::Other => (false, LAYOUT),
        };
        let mut grounds = Grounds { worth: 0.0, left: 1.0 };
        grounds.weigh(layout_fits, worth);
        grounds.weigh(self.hops, HOPS);
        for (fits, worth) in [(self.window, WINDOW), (self.shift, SHIFT)] {
            if let Some(fits) = fits {
                grounds.weigh(fits, worth);
            }
        }
        grounds
    }

    fn told(self, Opening { syn, offer, .. }: &Opening) -> Vec<String> {
        let named = list(&offer.options);
        let laid_out = match self.layout {
            Layout::Same => format!("options laid out as {named}"),
            Layout::Ordered | Layout::Other => format!("options in the order {named}"),
        };
        let hops = offer.hops;
        let shift = shift(syn);
        let window = format!("a window of {}", syn.window);
        let shift = format!("a window scale of {shift}");
        let mut told = vec![
            ground(self.layout != Layout::Other, &laid_out),
            ground(self.hops, &format!("a hop limit of {hops}, {} at first", begun_with(hops))),
        ];
        told.extend(self.window.map(|fits| ground(fits, &window)));
        told.extend(self.shift.map(|fits| ground(fits, &shift)));
        told
    }
}

/// What is said of something that holds, or does not.
fn ground(holds: bool, what: &str) -> String {
    let which = if holds { "" } else { "against it: " };
    format!("{which}{what}")
}

fn shift(syn: &Segment) -> u8 {
    syn.syn_options().window_scale.unwrap_or(0)
}

/// What speaks for a system, and what against it.
#[derive(Clone, Copy, Debug)]
struct Grounds {
    /// What all that speaks for it is worth.
    worth: f64,
    /// Which part of that is left by what speaks against it.
    left: f64,
}

impl Grounds {
    fn confidence(self) -> f64 {
        self.worth * self.left
    }

    fn weigh(&mut self, holds: bool, worth: f64) {
        match holds {
            true => self.worth += worth,
            false => self.left *= 1.0 - worth,
        }
    }
}

impl System {
    fn like(&self, Opening { syn, offer, .. }: &Opening) -> Looks {
        let layout = match self.layouts.contains(&&offer.options[..]) {
            true => Layout::Same,
            false if self.orders(syn, offer) => Layout::Ordered,
            false => Layout::Other,
        };
        let away = self.hops.checked_sub(offer.hops).filter(|&away| away < MOST_HOPS);
        Looks {
            layout,
            hops: away.is_some() && begun_with(offer.hops) == self.hops,
            window: self.window.is_like(syn),
            shift: self.shifts.as_ref().map(|shifts| shifts.contains(&shift(syn))),
        }
    }

    /// A SYN-ACK has only those options that the SYN had: do these come in the same order?
    fn orders(&self, syn: &Segment, offer: &Offer) -> bool {
        let told = |kinds: &[u8]| -> Vec<u8> {
            kinds.iter().copied().filter(|kind| !matches!(kind, 0 | 1)).collect()
        };
        let own = told(&offer.options);
        // One option is in no order.
        syn.flags.has(Flags::ACK)
            && own.len() > 1
            && self.layouts.iter().any(|layout| {
                let mut layout = told(layout).into_iter();
                own.iter().all(|kind| layout.any(|other| other == *kind))
            })
    }

    /// What it does fits the system, or does not.
    fn behaves<'a>(
        &self,
        (grounds, told): (&mut Grounds, &mut Vec<String>),
        mut triggers: impl Iterator<Item = Trigger>,
        timeouts: impl Iterator<Item = &'a TimeoutReport>,
    ) {
        if triggers.any(|trigger| trigger == Trigger::TailLossProbe) {
            let probes = matches!(self.name, "linux" | "windows" | "macos or ios" | "freebsd");
            grounds.weigh(probes, if probes { BEHAVIOUR } else { CONTRARY });
            told.push(ground(probes, "it sends tail loss probes"));
        }
        let expired = timeouts.filter(|timeout| timeout.class != Class::Unknown);
        let shortest = expired.map(|timeout| timeout.after).reduce(f64::min);
        let Some(shortest) = shortest.filter(|_| !self.least_timeout.is_zero()) else { return };
        let fits = shortest >= self.least_timeout.secs_f64();
        grounds.weigh(fits, if fits { 0.0 } else { CONTRARY });
        told.push(ground(fits, &format!("its shortest timeout took {shortest:.3} s")));
    }
}

impl Window {
    /// Is the window of the SYN such a one? `None` where any is.
    fn is_like(&self, syn: &Segment) -> Option<bool> {
        let like = match self {
            Self::Any => return None,
            Self::One(windows) => windows.contains(&syn.window),
            Self::Small(most) => syn.window <= *most,
            Self::Segments(count) => {
                let mss = u32::from(syn.syn_options().mss.unwrap_or(536)).max(1);
                let sizes = [mss, mss.saturating_sub(12).max(1)];
                let whole =
                    |size: &u32| syn.window % size == 0 && count.contains(&(syn.window / size));
                // Linux offers no more than 64 kB, less what would not be a whole segment.
                sizes.iter().any(whole) || syn.window == 65_535 && *count.end() > 44
            }
        };
        Some(like)
    }
}

/// The hop limit that a packet begins with which has this one left.
const fn begun_with(hops: u8) -> u8 {
    match hops {
        0..=64 => 64,
        65..=128 => 128,
        129.. => 255,
    }
}

fn list(kinds: &[u8]) -> String {
    let named = kinds.iter().map(|kind| match kind {
        0 => "end".into(),
        1 => "NOP".into(),
        2 => "MSS".into(),
        3 => "window scale".into(),
        4 => "SACK permitted".into(),
        8 => "timestamps".into(),
        34 => "fast open".into(),
        30 => "multipath".into(),
        other => format!("kind {other}"),
    });
    let named: Vec<String> = named.collect();
    if named.is_empty() { "none".into() } else { named.join(", ") }
}
