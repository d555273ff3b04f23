//! The chance of rare events, by importance splitting: fixed-effort splitting as in Garvels, "The
//! Splitting Method in Rare Event Simulation", 2000, chapter 2, and L'Ecuyer, Demers and Tuffin,
//! "Rare Events, Splitting, and Quasi-Monte Carlo", 2007.

use rtolab_link::{Rng, Stream};

use crate::lab::{Lab, Observe};
use crate::rare::RareEvent;
use crate::sim::Sim;

impl Lab {
    /// Estimates the chance of the event once. Returns how many of the runs reached each of
    /// [`RareEvent::levels`], up to the first level that none has reached; the product of their
    /// shares is an unbiased estimate. `None` if `keep_running`, called after every run, returns
    /// false.
    ///
    /// Runs begin with different seeds. When a run reaches a level, it stops. From there the runs
    /// of the next level continue as forks with new random numbers; each of those that stopped has
    /// the same number of forks, or one more than others, which chance decides.
    pub fn split(
        &self,
        event: &RareEvent,
        seed: u64,
        keep_running: &mut dyn FnMut() -> bool,
    ) -> Option<Vec<usize>> {
        let mut rng = Stream::new(seed).child("splitting").rng();
        let mut reached: Vec<Sim> = Vec::new();
        let mut counts = Vec::new();
        for level in event.levels() {
            shuffle(&mut reached, &mut rng);
            let mut passed = Vec::new();
            for number in 0..event.runs {
                let seed = rng.bits();
                let mut sim = match counts.is_empty() {
                    true => self.start(seed, Observe::default()).counting_timeouts(),
                    false => reached[number % reached.len()].fork_with(seed),
                };
                if sim.run_to(event.quantity, level, self.end()) {
                    passed.push(sim);
                }
                if !keep_running() {
                    return None;
                }
            }
            counts.push(passed.len());
            reached = passed;
            if reached.is_empty() {
                break;
            }
        }
        Some(counts)
    }
}

/// A random order: Fisher and Yates.
fn shuffle(sims: &mut [Sim], rng: &mut Rng) {
    for last in (1..sims.len()).rev() {
        let other = (u128::from(rng.bits()) * (last as u128 + 1)) >> 64;
        sims.swap(last, other as usize);
    }
}
