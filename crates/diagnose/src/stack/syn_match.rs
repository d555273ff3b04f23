//! The match of a SYN with those of a system.

use rtolab_capture::SynFingerprint;
use rtolab_tcp::Segment;

/// The support of matching options, padding included, as a part of the confidence. If a property
/// does not match, it takes this part of the confidence that the others give.
const LAYOUT: f64 = 0.5;
/// The support of the order of options alone, and of the other properties, likewise.
const ORDER: f64 = 0.25;
const HOPS: f64 = 0.15;
const WINDOW: f64 = 0.2;
const SHIFT: f64 = 0.1;

/// The SYN of an end, with the properties of its packet.
#[derive(Clone, Debug)]
pub(crate) struct Opening {
    pub syn: Segment,
    pub syn_fingerprint: SynFingerprint,
    pub frame: u64,
}

/// The properties of a SYN that match those of a system.
#[derive(Clone, Copy, Debug)]
pub(super) struct SynMatch {
    pub layout: Layout,
    /// Does the hop limit match? Here and below `None` if the property is no evidence.
    pub hops: Option<bool>,
    pub window: Option<bool>,
    pub shift: Option<bool>,
}

/// The match of the options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// The same options with the same padding.
    Same,
    /// The same order of options.
    SameOrder,
    Other,
}

impl SynMatch {
    pub fn score(self) -> Score {
        let (layout_fits, support) = match self.layout {
            Layout::Same => (true, LAYOUT),
            Layout::SameOrder => (true, ORDER),
            Layout::Other => (false, LAYOUT),
        };
        let mut score = Score { support: 0.0, remaining: 1.0 };
        score.add(layout_fits, support);
        for (fits, support) in [(self.hops, HOPS), (self.window, WINDOW), (self.shift, SHIFT)] {
            if let Some(fits) = fits {
                score.add(fits, support);
            }
        }
        score
    }

    /// The properties as phrases, with those that contradict.
    pub fn grounds(self, Opening { syn, syn_fingerprint, .. }: &Opening) -> Vec<String> {
        let named = list(&syn_fingerprint.options);
        let laid_out = match self.layout {
            Layout::Same => format!("options laid out as {named}"),
            Layout::SameOrder | Layout::Other => format!("options in the order {named}"),
        };
        let hops = syn_fingerprint.hops;
        let hops = format!("a hop limit of {hops}, {} at first", initial_hop_limit(hops));
        let window = format!("a window of {}", syn.window);
        let shift = format!("a window scale of {}", syn.syn_options().window_scale.unwrap_or(0));
        let mut grounds = vec![ground(self.layout != Layout::Other, &laid_out)];
        for (fits, what) in [(self.hops, &hops), (self.window, &window), (self.shift, &shift)] {
            grounds.extend(fits.map(|fits| ground(fits, what)));
        }
        grounds
    }
}

/// The phrase for a property that matches, or that contradicts.
pub(super) fn ground(holds: bool, what: &str) -> String {
    let which = if holds { "" } else { "against it: " };
    format!("{which}{what}")
}

/// The evidence for a system and against it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Score {
    /// The sum of the support of all matching properties.
    pub support: f64,
    /// The part of the support that contradicting properties leave, between 0 and 1.
    pub remaining: f64,
}

impl Score {
    pub fn confidence(self) -> f64 {
        self.support * self.remaining
    }

    /// Adds a property that matches (`holds`) or contradicts.
    pub fn add(&mut self, holds: bool, support: f64) {
        match holds {
            true => self.support += support,
            false => self.remaining *= 1.0 - support,
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

/// The initial hop limit of a packet that arrives with this hop limit.
pub(super) const fn initial_hop_limit(hops: u8) -> u8 {
    match hops {
        0..=64 => 64,
        65..=128 => 128,
        129.. => 255,
    }
}
