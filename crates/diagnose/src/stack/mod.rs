//! A guess at the sender's operating system, from its SYN and its behaviour.
//!
//! Each system has its own order of the options in a SYN, its own initial hop limit, and its own
//! windows and window scales.

mod syn_match;
mod systems;

use serde::Serialize;

pub(crate) use syn_match::Opening;
use syn_match::{Score, SynMatch, ground};
use systems::{SYSTEMS, System};

/// The highest confidence of a guess.
const MAX_CONFIDENCE: f64 = 0.95;
/// The lowest support of a guess.
const MIN_SUPPORT: f64 = 0.5;
/// The support of a behaviour that only some systems have.
const BEHAVIOUR: f64 = 0.05;
/// The part of the confidence that a contradicting behaviour takes.
const CONTRARY: f64 = 0.2;
/// The largest difference in confidence of systems that are listed together. It is larger than the
/// support of a window.
const ALIKE: f64 = 0.25;

/// A guess at a sender's operating system.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Guess {
    /// The systems that match, the most likely first.
    pub systems: Vec<&'static str>,
    /// The confidence that the sender is the first of them, between 0 and 1.
    pub confidence: f64,
    /// The evidence for the first of them, and the evidence against it.
    pub grounds: Vec<String>,
    /// The frame of its SYN.
    pub frame: u64,
}

/// The sender's behaviour after its SYN, as far as a capture at the sender shows it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Behaviour {
    /// Does it send tail loss probes?
    pub probes_tails: bool,
    /// Its shortest retransmission timeout, in seconds.
    pub shortest_timeout: Option<f64>,
}

/// The systems that the sender's SYN matches, if there are any.
pub(crate) fn guess(opening: &Opening, behaviour: Behaviour) -> Option<Guess> {
    let mut candidates: Vec<_> =
        SYSTEMS.iter().filter_map(|one| Candidate::of(one, opening)).collect();
    for candidate in &mut candidates {
        candidate.add_behaviour(behaviour);
    }
    // The sort is stable, so of equal candidates the more common system comes first.
    candidates.sort_by(|one, other| other.score.confidence().total_cmp(&one.score.confidence()));
    let listed = candidates.iter().filter(|candidate| candidate.is_close_to(&candidates[0]));
    let systems: Vec<_> = listed.map(Candidate::name).collect();
    let best = candidates.first()?;
    Some(Guess {
        confidence: best.score.confidence().min(MAX_CONFIDENCE) / systems.len() as f64,
        systems,
        grounds: best.grounds(opening, behaviour),
        frame: opening.frame,
    })
}

/// A system that the sender may be.
struct Candidate {
    system: &'static System,
    syn_match: SynMatch,
    score: Score,
}

impl Candidate {
    fn of(system: &'static System, opening: &Opening) -> Option<Self> {
        let syn_match = system.compare(opening);
        let score = syn_match.score();
        (score.support >= MIN_SUPPORT).then_some(Self { system, syn_match, score })
    }

    const fn name(&self) -> &'static str {
        self.system.name
    }

    /// Adds the evidence of the sender's behaviour.
    fn add_behaviour(&mut self, behaviour: Behaviour) {
        if behaviour.probes_tails {
            let probes = self.system.probes_tails;
            self.score.add(probes, if probes { BEHAVIOUR } else { CONTRARY });
        }
        if let Some((fits, _)) = self.shortest_timeout(behaviour) {
            self.score.add(fits, if fits { 0.0 } else { CONTRARY });
        }
    }

    /// Does the sender's shortest timeout, which is also returned, fit the system's minimum?
    fn shortest_timeout(&self, behaviour: Behaviour) -> Option<(bool, f64)> {
        let least = self.system.least_timeout;
        let shortest = behaviour.shortest_timeout.filter(|_| !least.is_zero())?;
        Some((shortest >= least.secs_f64(), shortest))
    }

    /// The evidence for the system and against it, in words.
    fn grounds(&self, opening: &Opening, behaviour: Behaviour) -> Vec<String> {
        let mut grounds = self.syn_match.grounds(opening);
        if behaviour.probes_tails {
            grounds.push(ground(self.system.probes_tails, "it sends tail loss probes"));
        }
        if let Some((fits, shortest)) = self.shortest_timeout(behaviour) {
            grounds.push(ground(fits, &format!("its shortest timeout took {shortest:.3} s")));
        }
        grounds
    }

    /// Is there no more evidence against it than against the best candidate, and nearly as much for
    /// it?
    fn is_close_to(&self, best: &Self) -> bool {
        let (own, other) = (self.score, best.score);
        own.remaining >= other.remaining && other.confidence() - own.confidence() <= ALIKE
    }
}
