//! How a SYN looks beside those of a system.

use rtolab_capture::Offer;
use rtolab_tcp::Segment;

/// How much of the confidence each ground is worth: layout, order alone, hop limit, window, shift.
/// A ground that speaks against a system takes as large a part of the confidence that the others
/// give.
const LAYOUT: f64 = 0.5;
const ORDER: f64 = 0.25;
const HOPS: f64 = 0.15;
const WINDOW: f64 = 0.2;
const SHIFT: f64 = 0.1;

/// The SYN of an end, and how it looks.
#[derive(Clone, Debug)]
pub(crate) struct Opening {
    pub syn: Segment,
    pub offer: Offer,
    pub frame: u64,
}

/// How a SYN is like those of a system.
#[derive(Clone, Copy, Debug)]
pub(super) struct Looks {
    pub layout: Layout,
    /// `None` where it says nothing, as with the others.
    pub hops: Option<bool>,
    pub window: Option<bool>,
    pub shift: Option<bool>,
}

/// How its options are like those of the system's SYNs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    Same,
    /// In the same order.
    Ordered,
    Other,
}

impl Looks {
    pub fn grounds(self) -> Grounds {
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

    pub fn told(self, Opening { syn, offer, .. }: &Opening) -> Vec<String> {
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
pub(super) fn ground(holds: bool, what: &str) -> String {
    let which = if holds { "" } else { "against it: " };
    format!("{which}{what}")
}

/// What speaks for a system, and what against it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grounds {
    /// What all that speaks for it is worth.
    pub worth: f64,
    /// Which part of that is left by what speaks against it.
    pub left: f64,
}

impl Grounds {
    pub fn confidence(self) -> f64 {
        self.worth * self.left
    }

    pub fn weigh(&mut self, holds: bool, worth: f64) {
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

/// The hop limit that a packet begins with which has this one left.
pub(super) const fn begun_with(hops: u8) -> u8 {
    match hops {
        0..=64 => 64,
        65..=128 => 128,
        129.. => 255,
    }
}
