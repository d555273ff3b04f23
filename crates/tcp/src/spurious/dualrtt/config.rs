//! Knobs of DualRTT (Fu and Atiquzzaman 2004).

use rtolab_settings::{Choice, FormattedOption, Setting, Settings, Thousandths};

use crate::episode::KnownPath;

/// Knobs of DualRTT (Fu and Atiquzzaman 2004).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Settings)]
pub struct DualRttConfig {
    /// The threshold below which an acknowledgment is too soon.
    #[setting(flatten)]
    pub threshold: Threshold,
    /// The rule for the first acknowledgment after a timeout.
    pub first: FirstAck,
    /// The parameters of the path that the sender knows.
    #[setting(flatten)]
    pub path: KnownPath,
}

impl DualRttConfig {
    /// The path parameter that the threshold needs and the configuration lacks, if any.
    pub const fn missing_parameter(&self) -> Option<PathParameter> {
        self.threshold.missing_parameter(self.path)
    }
}

/// A parameter of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathParameter {
    /// [`KnownPath::rate`].
    Rate,
    /// [`KnownPath::delay`].
    Delay,
}

/// What fraction of the smallest round trip DualRTT's threshold is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub enum Threshold {
    /// A fixed fraction in thousandths.
    #[choice(skip)]
    Fixed(u32),
    /// One and a half times the spacing of acknowledgments, and at most nine tenths of the smallest
    /// round trip: held segments leave the bottleneck one serialisation time apart.
    Physical,
    /// The paper's model (equations 3 and 6) of the configured path, with this logarithm: the paper
    /// names none.
    #[choice(
        "paper-ln",
        Self::Paper(Logarithm::Natural),
        "The paper's equation 3 with natural logarithms, for path_rate and path_delay."
    )]
    #[choice(
        "paper-log10",
        Self::Paper(Logarithm::Decimal),
        "The paper's equation 3 with decimal logarithms, for path_rate and path_delay."
    )]
    Paper(Logarithm),
    /// The best of Table V for the configured bandwidth: the row whose bandwidth is nearest on a
    /// logarithmic axis. The table is for a delay of 200 ms.
    Table,
    /// The paper's model with the natural logarithm, of the path as the sender's acknowledgments
    /// show it; a tenth as long as they show too little, at the start and on a new path
    /// (section V-B).
    Online,
}

impl Threshold {
    /// The path parameter that it needs and that is not known, if any.
    pub const fn missing_parameter(self, path: KnownPath) -> Option<PathParameter> {
        match (self, path.rate, path.delay) {
            (Self::Paper(_) | Self::Table, None, _) => Some(PathParameter::Rate),
            (Self::Paper(_), _, None) => Some(PathParameter::Delay),
            (Self::Fixed(_) | Self::Physical | Self::Paper(_) | Self::Table | Self::Online, ..) => {
                None
            }
        }
    }
}

/// The logarithm in DualRTT's model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Logarithm {
    /// Base e: thresholds of about 0.2 on the paths of Table V.
    Natural,
    /// Base 10: thresholds of about 0.085 there.
    Decimal,
}

impl Default for Threshold {
    /// The paper's recommendation for an unknown path (section V).
    fn default() -> Self {
        Self::Fixed(100)
    }
}

impl Settings for Threshold {
    fn about(&self) -> &'static str {
        "What fraction of the smallest round trip DualRTT's threshold is."
    }

    fn each(&mut self, visit: &mut dyn FnMut(Setting<'_>)) {
        const CONFLICTING_KEYS: [&str; 2] = ["threshold", "model"];
        let about =
            "An acknowledgment is too soon within this fraction of the smallest round trip.";
        let mut fixed = match self {
            Self::Fixed(thousandths) => Some(*thousandths),
            _ => None,
        };
        let mut written = FormattedOption::<Thousandths, _>::new(&mut fixed);
        visit(Setting {
            conflicts_with: &CONFLICTING_KEYS,
            ..Setting::value(CONFLICTING_KEYS[0], about, &mut written)
        });
        *self = fixed.map_or(*self, Self::Fixed);
        let about = "Instead of `threshold`: the model that gives the fraction.";
        let mut model = Some(*self).filter(|model| !matches!(model, Self::Fixed(_)));
        let mut written = FormattedOption::<Self, _>::new(&mut model);
        visit(Setting {
            conflicts_with: &CONFLICTING_KEYS,
            ..Setting::value(CONFLICTING_KEYS[1], about, &mut written)
        });
        *self = model.unwrap_or(*self);
    }
}

/// The rule of DualRTT for the first new acknowledgment after a timeout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum FirstAck {
    /// As any: since the last retransmission of the segment (equation 1).
    #[default]
    Definition,
    /// Since the segment was first sent, as in Table III.
    Original,
    /// Not at all.
    Skip,
}
