//! Names of detectors, read once.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use core::fmt;
use core::str::FromStr;

use rtolab_settings::names::one_of;
use thiserror::Error;

use super::detectors::{Acting, Make};
use super::{
    COMPOSITE_DETECTORS, DETECTORS, Detector, DetectorKind, DualRttConfig, FrtoVariant, Threshold,
};
use crate::episode::{DetectorId, Identity};

/// Why a name is not that of a detector.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DetectorError {
    /// None has that name.
    #[error("unknown detector `{found}`; expected {expected}")]
    Unknown {
        /// The name.
        found: String,
        /// The names that are nearest to it.
        expected: String,
    },
    /// The threshold in the name is out of range.
    #[error(
        "found the threshold of `{0}`; expected a part of the smallest round trip from 0.001 to \
         0.999, such as `dualrtt:0.04`"
    )]
    Threshold(String),
}

/// DualRTT with the threshold of the configuration.
const DUALRTT: DetectorId = DetectorId::named("dualrtt");

const COUNT: usize = DETECTORS.len() + COMPOSITE_DETECTORS.len();

const fn row(index: usize) -> &'static DetectorKind {
    match index.checked_sub(DETECTORS.len()) {
        None => &DETECTORS[index],
        Some(index) => &COMPOSITE_DETECTORS[index],
    }
}

impl DetectorId {
    /// That of a detector of the registry.
    ///
    /// # Panics
    ///
    /// If there is none of that name; what a user gives is parsed instead.
    pub const fn named(name: &str) -> Self {
        let mut index = 0;
        while index < COUNT {
            if are_equal(row(index).name.as_bytes(), name.as_bytes()) {
                return Self(Identity::Listed(index));
            }
            index += 1;
        }
        panic!("no detector has this name")
    }

    /// That of this name. Unlike parsing, it spends no time on an error message.
    pub(crate) fn find(name: &str) -> Option<Self> {
        let listed = (0..COUNT).find(|index| row(*index).name == name);
        listed.map(|index| Self(Identity::Listed(index))).or_else(|| {
            let thousandths = thousandths(name.strip_prefix("dualrtt:")?)?;
            (thousandths > 0).then_some(Self(Identity::DualRtt(thousandths)))
        })
    }

    /// That of a user's own detector.
    pub const fn custom(name: &'static str) -> Self {
        Self(Identity::Custom(name))
    }

    /// Those of [`DETECTORS`].
    pub fn all() -> impl ExactSizeIterator<Item = Self> + Clone {
        (0..DETECTORS.len()).map(|index| Self(Identity::Listed(index)))
    }

    /// Those that a sender may act on.
    pub(crate) fn all_acting() -> impl Iterator<Item = Self> {
        (0..COUNT).map(|index| Self(Identity::Listed(index))).filter(|id| id.acting().is_some())
    }

    /// That of a form of F-RTO.
    pub(crate) fn of_frto(variant: FrtoVariant) -> Option<Self> {
        Self::all().find(|id| id.variant() == Some(variant))
    }

    /// The form of F-RTO that it is.
    pub(crate) fn variant(self) -> Option<FrtoVariant> {
        match self.kind()?.make {
            Make::Frto(variant) => Some(variant),
            Make::New(_) | Make::DualRtt(_) => None,
        }
    }

    /// That under which a sender with this threshold of DualRTT acts on it.
    pub(crate) fn of_threshold(self, threshold: Threshold) -> Self {
        let has_it = |id: &Self| match id.kind().map(|kind| kind.make) {
            Some(Make::DualRtt(own)) => own == Some(threshold),
            _ => false,
        };
        if self == DUALRTT { Self::all().find(has_it).unwrap_or(self) } else { self }
    }

    /// Its row of the registry, but of a user's own.
    pub const fn kind(self) -> Option<&'static DetectorKind> {
        match self.0 {
            Identity::Listed(index) => Some(row(index)),
            Identity::DualRtt(_) => DUALRTT.kind(),
            Identity::Custom(_) => None,
        }
    }

    /// How a sender acts on it, but on a user's own.
    pub(crate) fn acting(self) -> Option<Acting> {
        self.kind()?.acting
    }

    /// The threshold that it brings.
    pub(crate) fn threshold(self) -> Option<Threshold> {
        match (self.0, self.kind()?.make) {
            (Identity::DualRtt(thousandths), _) => Some(Threshold::Fixed(thousandths.into())),
            (_, Make::DualRtt(threshold)) => threshold,
            _ => None,
        }
    }

    /// One that has seen nothing yet, but of a user's own. DualRTT has these knobs.
    pub fn make(self, knobs: DualRttConfig) -> Option<Box<dyn Detector>> {
        let threshold = self.threshold().unwrap_or(knobs.threshold);
        Some(self.kind()?.make(DualRttConfig { threshold, ..knobs }))
    }

    /// The detector of this name, passive.
    pub fn passive(name: &str) -> Result<(Self, Box<dyn Detector>), DetectorError> {
        let id: Self = name.parse()?;
        let detector = id.make(DualRttConfig::default());
        Ok((id, detector.ok_or_else(|| DetectorError::unknown(name, []))?))
    }
}

impl fmt::Display for DetectorId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Identity::Listed(index) => f.pad(row(index).name),
            Identity::DualRtt(thousandths) => {
                let name = alloc::format!("dualrtt:0.{thousandths:03}");
                f.pad(name.trim_end_matches('0'))
            }
            Identity::Custom(name) => f.pad(name),
        }
    }
}

impl FromStr for DetectorId {
    type Err = DetectorError;

    fn from_str(name: &str) -> Result<Self, DetectorError> {
        Self::find(name).ok_or_else(|| match name.strip_prefix("dualrtt:") {
            Some(number)
                if number.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)) =>
            {
                DetectorError::Threshold(name.to_string())
            }
            _ => DetectorError::unknown(name, []),
        })
    }
}

impl DetectorError {
    /// No detector has the name `found`, nor has one of the user's `own`.
    pub fn unknown<'a>(found: &str, own: impl IntoIterator<Item = &'a str>) -> Self {
        let known = (0..COUNT).map(|index| row(index).name).chain(["dualrtt:0.04"]);
        Self::Unknown { found: found.to_string(), expected: one_of(found, known.chain(own)) }
    }
}

/// So that results can be compared with names.
impl PartialEq<&str> for DetectorId {
    fn eq(&self, name: &&str) -> bool {
        let own = self.to_string();
        own.as_str() == *name
    }
}

/// Of a fraction such as 0.04.
fn thousandths(number: &str) -> Option<u16> {
    let digits = number.strip_prefix("0.").filter(|digits| (1..=3).contains(&digits.len()))?;
    let number = digits.bytes().all(|digit| digit.is_ascii_digit()).then(|| digits.parse::<u16>());
    Some(number?.ok()? * [100, 10, 1][digits.len() - 1])
}

/// As `==`, which no constant may use.
const fn are_equal(one: &[u8], other: &[u8]) -> bool {
    match (one, other) {
        ([], []) => true,
        ([a, one @ ..], [b, other @ ..]) => *a == *b && are_equal(one, other),
        _ => false,
    }
}
