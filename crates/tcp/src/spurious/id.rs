//! The names of detectors and their parser.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use core::fmt;
use core::str::FromStr;

use rtolab_settings::names::suggest;
use thiserror::Error;

use super::detectors::{Acting, Make};
use super::{
    COMPOSITE_DETECTORS, DETECTORS, Detector, DetectorKind, DualRttConfig, FrtoVariant, Threshold,
};
use crate::episode::{DetectorId, Identity};

/// Why the name of a detector is invalid.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DetectorError {
    /// No detector has this name.
    #[error("unknown detector `{found}`; expected {expected}")]
    Unknown {
        /// The name.
        found: String,
        /// The nearest valid names.
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
    /// The identity of a detector of the registry.
    ///
    /// # Panics
    ///
    /// If no detector has this name. Parse names that users give instead.
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

    /// The detector of this name. Unlike parsing, this creates no error message.
    pub(crate) fn find(name: &str) -> Option<Self> {
        let listed = (0..COUNT).find(|index| row(*index).name == name);
        listed.map(|index| Self(Identity::Listed(index))).or_else(|| {
            let thousandths = thousandths(name.strip_prefix("dualrtt:")?)?;
            (thousandths > 0).then_some(Self(Identity::DualRtt(thousandths)))
        })
    }

    /// The identity of a user-defined detector.
    pub const fn custom(name: &'static str) -> Self {
        Self(Identity::Custom(name))
    }

    /// All detectors of [`DETECTORS`].
    pub fn all() -> impl ExactSizeIterator<Item = Self> + Clone {
        (0..DETECTORS.len()).map(|index| Self(Identity::Listed(index)))
    }

    /// All detectors that a sender may act on.
    pub(crate) fn all_acting() -> impl Iterator<Item = Self> {
        (0..COUNT).map(|index| Self(Identity::Listed(index))).filter(|id| id.acting().is_some())
    }

    /// The detector that is this variant of F-RTO.
    pub(crate) fn of_frto(variant: FrtoVariant) -> Option<Self> {
        Self::all().find(|id| id.variant() == Some(variant))
    }

    /// The variant of F-RTO, if it is F-RTO.
    pub(crate) fn variant(self) -> Option<FrtoVariant> {
        match self.kind()?.make {
            Make::Frto(variant) => Some(variant),
            Make::New(_) | Make::DualRtt(_) => None,
        }
    }

    /// The identity for a sender with this threshold of DualRTT: `dualrtt` becomes the detector of
    /// the registry that has this threshold.
    pub(crate) fn of_threshold(self, threshold: Threshold) -> Self {
        let has_it = |id: &Self| match id.kind().map(|kind| kind.make) {
            Some(Make::DualRtt(own)) => own == Some(threshold),
            _ => false,
        };
        if self == DUALRTT { Self::all().find(has_it).unwrap_or(self) } else { self }
    }

    /// Its row of the registry; `None` for a user-defined detector.
    pub const fn kind(self) -> Option<&'static DetectorKind> {
        match self.0 {
            Identity::Listed(index) => Some(row(index)),
            Identity::DualRtt(_) => DUALRTT.kind(),
            Identity::Custom(_) => None,
        }
    }

    /// How a sender acts on it; `None` if no sender can, or if it is user-defined.
    pub(crate) fn acting(self) -> Option<Acting> {
        self.kind()?.acting
    }

    /// The threshold of DualRTT in its name, if any.
    pub(crate) fn threshold(self) -> Option<Threshold> {
        match (self.0, self.kind()?.make) {
            (Identity::DualRtt(thousandths), _) => Some(Threshold::Fixed(thousandths.into())),
            (_, Make::DualRtt(threshold)) => threshold,
            _ => None,
        }
    }

    /// A new detector in its initial state; `None` if it is user-defined. `settings` are those
    /// of DualRTT.
    pub fn make(self, settings: DualRttConfig) -> Option<Box<dyn Detector>> {
        let threshold = self.threshold().unwrap_or(settings.threshold);
        Some(self.kind()?.make(DualRttConfig { threshold, ..settings }))
    }

    /// The identity of the detector of this name, and a new instance.
    ///
    /// # Errors
    ///
    /// If no detector has this name.
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
    /// The error for the unknown name `found`. `own` are the names of user-defined detectors.
    pub fn unknown<'a>(found: &str, own: impl IntoIterator<Item = &'a str>) -> Self {
        let known = (0..COUNT).map(|index| row(index).name).chain(["dualrtt:0.04"]);
        Self::Unknown { found: found.to_string(), expected: suggest(found, known.chain(own)) }
    }
}

/// Compares an identity with a name.
impl PartialEq<&str> for DetectorId {
    fn eq(&self, name: &&str) -> bool {
        let own = self.to_string();
        own.as_str() == *name
    }
}

/// The thousandths of a fraction such as `0.04`.
fn thousandths(number: &str) -> Option<u16> {
    let digits = number.strip_prefix("0.").filter(|digits| (1..=3).contains(&digits.len()))?;
    let number = digits.bytes().all(|digit| digit.is_ascii_digit()).then(|| digits.parse::<u16>());
    Some(number?.ok()? * [100, 10, 1][digits.len() - 1])
}

/// `==` for constants.
const fn are_equal(one: &[u8], other: &[u8]) -> bool {
    match (one, other) {
        ([], []) => true,
        ([a, one @ ..], [b, other @ ..]) => *a == *b && are_equal(one, other),
        _ => false,
    }
}
