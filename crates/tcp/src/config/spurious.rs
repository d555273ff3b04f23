//! The detectors that a sender acts on, and F-RTO without new data.

use alloc::boxed::Box;
use alloc::vec::Vec;

use rtolab_settings::Choice;

use crate::spurious::{CustomDetector, Detector, DetectorId, DualRttConfig, Family, Requirement};

/// The detectors that a sender acts on beside F-RTO, in the order in which it asks them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Detectors {
    listed: Vec<DetectorId>,
    custom: Vec<CustomDetector>,
}

impl Detectors {
    /// Adds one of the table, in place of another of its [`Family`]. One that no sender can act on,
    /// and F-RTO, which is [`Config::frto`](super::Config::frto), change nothing.
    pub fn add(&mut self, id: DetectorId) {
        let family = |id: DetectorId| id.acting().map(|acting| acting.family);
        if family(id).is_none() || id.variant().is_some() {
            return;
        }
        let distinct = |other: &DetectorId| match family(id) {
            Some(Family::Single) => *other != id,
            own => family(*other) != own,
        };
        self.listed.retain(distinct);
        let place = self.listed.partition_point(|other| family(*other) <= family(id));
        self.listed.insert(place, id);
    }

    /// Adds a user-defined one, which is asked last.
    pub fn add_custom(&mut self, custom: CustomDetector) {
        self.custom.push(custom);
    }

    /// Their identities, in order.
    pub fn iter(&self) -> impl Iterator<Item = DetectorId> + '_ {
        self.listed.iter().copied().chain(self.custom.iter().map(CustomDetector::id))
    }

    /// Is there none?
    pub fn is_empty(&self) -> bool {
        self.listed.is_empty() && self.custom.is_empty()
    }

    /// Does any of them need this?
    pub(crate) fn need(&self, what: Requirement) -> bool {
        let needs = |id: DetectorId| id.acting().is_some_and(|acting| acting.needs == Some(what));
        self.listed.iter().any(|id| needs(*id))
    }

    /// New instances of them.
    pub(crate) fn make(
        &self,
        settings: DualRttConfig,
    ) -> impl Iterator<Item = (DetectorId, Box<dyn Detector>)> + '_ {
        let listed = self.listed.iter();
        let listed = listed
            .filter_map(move |id| Some((id.of_threshold(settings.threshold), id.make(settings)?)));
        listed.chain(self.custom.iter().map(|custom| (custom.id(), custom.detector.clone())))
    }
}

/// What F-RTO does without new segments to send: the application has no data, or the advertised
/// window no room (RFC 5682 appendix A).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum WindowLimited {
    /// It ends: conventional recovery.
    #[default]
    Conventional,
    /// It sends an empty segment below SND.UNA. The answer is a duplicate acknowledgment, which
    /// arrives second if the timeout was needed.
    Probe,
    /// It sends one byte of new data beyond the advertised window. Without data it ends.
    OneByte,
    /// It retransmits the last outstanding segment.
    Tail,
    /// This many segments of the advertised window are always reserved for it, except one that may
    /// be outstanding. Without data it ends.
    #[choice(
        "reserve-1",
        Self::Reserve(1),
        "One segment of the advertised window is reserved for it."
    )]
    #[choice(
        "reserve-2",
        Self::Reserve(2),
        "Two segments of the advertised window are reserved for it."
    )]
    Reserve(u32),
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever the order in which they are named, as each asks what the ones before know.
    #[test]
    fn detectors_run_in_the_order_of_their_families() {
        let names = ["dsack", "badrexmit", "eifel"];
        for shift in 0..names.len() {
            let mut detectors = Detectors::default();
            for index in 0..names.len() {
                let name = names[(index + shift) % names.len()];
                detectors.add(DetectorId::named(name));
            }
            let expected = ["eifel", "badrexmit", "dsack"].map(DetectorId::named);
            assert!(detectors.iter().eq(expected), "{detectors:?}");
        }
    }
}
