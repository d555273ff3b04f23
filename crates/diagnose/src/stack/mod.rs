//! A guess at the system that sends, by how its SYN looks and what it does.
//!
//! Every system lays out the options of its SYN in its own way, begins with one of three hop
//! limits, and has its own windows and shifts.

mod looks;
mod systems;

use serde::Serialize;

pub(crate) use looks::Opening;
use looks::{Grounds, ground};
use systems::{SYSTEMS, System};

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

/// What the sender did beside its SYN, as far as a capture at the sender shows it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Behaviour {
    pub probes_tails: bool,
    /// Its shortest retransmission timeout, in seconds.
    pub shortest_timeout: Option<f64>,
}

/// The systems that the sender's SYN is like, if there are any.
pub(crate) fn guess(opening: &Opening, behaviour: Behaviour) -> Option<Guess> {
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
