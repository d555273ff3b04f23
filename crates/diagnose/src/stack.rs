//! A guess at the system that sends, by how its SYN looks and what it does.
//!
//! Every system lays out the options of its SYN in its own way, begins with one of three hop limits,
//! and has its own windows and shifts.

use rtolab_capture::{End, Offer};
use rtolab_tcp::Segment;
use serde::Serialize;

use crate::connection::Connection;
use crate::report::{Class, TimeoutReport};
use crate::trigger::Trigger;
use crate::vantage::Vantage;

mod systems;

use systems::{SYSTEMS, System, begun_with};

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
/// What is surer by no more than this, more than a window gives, is not told apart.
const ALIKE: f64 = 0.25;

/// The systems that a sender may be.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Guess {
    /// All that the evidence does not tell apart, the likeliest first.
    pub systems: Vec<&'static str>,
    /// How sure it is that the sender is the first of them, between 0 and 1.
    pub confidence: f64,
    /// What speaks for the first of them, and what against.
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

/// What the sender did beside its SYN.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Behaviour {
    probes_tails: bool,
    /// After which time its timer expired, at the least, in seconds.
    shortest_timeout: Option<f64>,
}

impl Behaviour {
    /// As a capture at the sender shows it: elsewhere the path has moved what its timers did.
    pub fn seen<'a>(
        vantage: Vantage,
        mut triggers: impl Iterator<Item = Trigger>,
        timeouts: impl Iterator<Item = &'a TimeoutReport>,
    ) -> Self {
        if vantage != Vantage::Sender {
            return Self::default();
        }
        let expired = timeouts.filter(|timeout| timeout.class != Class::Unknown);
        Self {
            probes_tails: triggers.any(|trigger| trigger == Trigger::TailLossProbe),
            shortest_timeout: expired.map(|timeout| timeout.after).reduce(f64::min),
        }
    }
}

/// The systems that the sender's SYN is like, if there are any.
pub(crate) fn guess(connection: &Connection, sender: End, behaviour: Behaviour) -> Option<Guess> {
    let opening = connection.handshake.openings[sender as usize].as_ref()?;
    let mut fits: Vec<_> = SYSTEMS.iter().filter_map(|one| Fit::of(one, opening)).collect();
    for fit in &mut fits {
        fit.behaves(behaviour);
    }
    // Equals stay in their order, the more common one before.
    fits.sort_by(|one, other| other.grounds.confidence().total_cmp(&one.grounds.confidence()));
    let systems: Vec<_> = fits.iter().filter(|fit| fit.is_like(&fits[0])).map(Fit::name).collect();
    let Fit { grounds, told, .. } = fits.into_iter().next()?;
    Some(Guess {
        confidence: grounds.confidence().min(MOST) / systems.len() as f64,
        systems,
        grounds: told,
        frame: opening.frame,
    })
}

/// A system that the sender may be.
struct Fit {
    system: &'static System,
    grounds: Grounds,
    told: Vec<String>,
}

impl Fit {
    fn of(system: &'static System, opening: &Opening) -> Option<Self> {
        let looks = system.like(opening);
        let grounds = looks.grounds();
        (grounds.worth >= LEAST).then(|| Self { system, grounds, told: looks.told(opening) })
    }

    const fn name(&self) -> &'static str {
        self.system.name
    }

    /// What the sender does fits the system, or does not.
    fn behaves(&mut self, Behaviour { probes_tails, shortest_timeout }: Behaviour) {
        if probes_tails {
            let probes = self.system.probes_tails;
            self.grounds.weigh(probes, if probes { BEHAVIOUR } else { CONTRARY });
            self.told.push(ground(probes, "it sends tail loss probes"));
        }
        let least = self.system.least_timeout;
        let Some(shortest) = shortest_timeout.filter(|_| !least.is_zero()) else { return };
        let fits = shortest >= least.secs_f64();
        self.grounds.weigh(fits, if fits { 0.0 } else { CONTRARY });
        self.told.push(ground(fits, &format!("its shortest timeout took {shortest:.3} s")));
    }

    /// No more speaks against it than against the surest, and not much less for it.
    fn is_like(&self, surest: &Self) -> bool {
        let (own, other) = (self.grounds, surest.grounds);
        own.left >= other.left && other.confidence() - own.confidence() <= ALIKE
    }
}

/// How a SYN is like those of a system.
#[derive(Clone, Copy, Debug)]
struct Looks {
    layout: Layout,
    /// `None` where it says nothing, as with the others.
    hops: Option<bool>,
    window: Option<bool>,
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
        for (fits, worth) in [(self.hops, HOPS), (self.window, WINDOW), (self.shift, SHIFT)] {
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
        let hops = format!("a hop limit of {hops}, {} at first", begun_with(hops));
        let window = format!("a window of {}", syn.window);
        let shift = format!("a window scale of {}", syn.syn_options().window_scale.unwrap_or(0));
        let mut told = vec![ground(self.layout != Layout::Other, &laid_out)];
        for (fits, what) in [(self.hops, &hops), (self.window, &window), (self.shift, &shift)] {
            told.extend(fits.map(|fits| ground(fits, what)));
        }
        told
    }
}

/// What is said of something that holds, or does not.
fn ground(holds: bool, what: &str) -> String {
    let which = if holds { "" } else { "against it: " };
    format!("{which}{what}")
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
