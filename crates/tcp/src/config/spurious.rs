//! Knobs of a sender that finds a retransmission spurious: which detectors it acts on, and how it
//! responds.

use alloc::boxed::Box;
use alloc::vec::Vec;

use rtolab_settings::{Choice, Setting, Settings, Thousandths, WrittenOption};
use rtolab_time::{Duration, Rate};

use crate::spurious::{CustomDetector, Detector, DetectorId, Family, Needs};

/// The detectors that a sender acts on beside F-RTO, in the order in which it asks them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Detectors {
    listed: Vec<DetectorId>,
    custom: Vec<CustomDetector>,
}

impl Detectors {
    /// Adds one of the registry, in place of another of its [`Family`]. Those that no sender can act
    /// on, and F-RTO, which is [`Config::frto`](super::Config::frto), leave it as it is.
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

    /// Adds a user's, which is asked after all of the registry.
    pub fn add_custom(&mut self, custom: CustomDetector) {
        self.custom.push(custom);
    }

    /// Which they are, in their order.
    pub fn iter(&self) -> impl Iterator<Item = DetectorId> + '_ {
        self.listed.iter().copied().chain(self.custom.iter().map(CustomDetector::id))
    }

    /// Is there none?
    pub fn is_empty(&self) -> bool {
        self.listed.is_empty() && self.custom.is_empty()
    }

    /// Does any of them need this?
    pub(crate) fn need(&self, what: Needs) -> bool {
        let needs = |id: DetectorId| id.acting().is_some_and(|acting| acting.needs == Some(what));
        self.listed.iter().any(|id| needs(*id))
    }

    /// New ones, which have seen nothing yet.
    pub(crate) fn make(
        &self,
        knobs: DualRttConfig,
    ) -> impl Iterator<Item = (DetectorId, Box<dyn Detector>)> + '_ {
        let listed = self.listed.iter();
        let listed =
            listed.filter_map(move |id| Some((id.of_threshold(knobs.threshold), id.make(knobs)?)));
        listed.chain(self.custom.iter().map(|custom| (custom.id(), custom.detector.clone())))
    }
}

/// What F-RTO does where it has no new segments to send: the application has no data, or the offered
/// window no room (RFC 5682 appendix A).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum WindowLimited {
    /// It gives up: conventional recovery.
    #[default]
    Conventional,
    /// It sends an empty segment below SND.UNA. The answer is a duplicate acknowledgment, which comes
    /// second where the timeout was needed.
    Probe,
    /// It sends one byte of new data beyond the offered window; without data it gives up.
    OneByte,
    /// It sends the last outstanding segment again.
    Tail,
    /// So many segments of the offered window are kept free for it at all times, but one that may
    /// always be outstanding; without data it gives up.
    #[choice(
        "reserve-1",
        Self::Reserve(1),
        "One segment of the offered window is kept free for it."
    )]
    #[choice(
        "reserve-2",
        Self::Reserve(2),
        "Two segments of the offered window are kept free for it."
    )]
    Reserve(u32),
}

/// Knobs of DualRTT (Fu and Atiquzzaman 2004).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Settings)]
pub struct DualRttConfig {
    /// What an acknowledgment must be sooner than.
    #[setting(flatten)]
    pub threshold: Threshold,
    /// How the first acknowledgment after a timeout is judged.
    pub first: FirstAck,
    /// What the sender is told of its path.
    #[setting(flatten)]
    pub path: KnownPath,
}

impl DualRttConfig {
    /// What the threshold goes by and the sender is not told, if anything.
    pub const fn lacks(&self) -> Option<PathFact> {
        self.threshold.lacks(self.path)
    }
}

/// What is known of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Settings)]
pub struct KnownPath {
    /// For a model that goes by it: the bandwidth of the path, which is that of its slowest link.
    #[setting(key = "path_rate", example = "50 kbit/s")]
    pub rate: Option<Rate>,
    /// For a model that goes by it: the one-way delay of the path.
    #[setting(key = "path_delay", example = "200 ms")]
    pub delay: Option<Duration>,
}

/// One of the things to know of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathFact {
    /// [`KnownPath::rate`].
    Rate,
    /// [`KnownPath::delay`].
    Delay,
}

/// What fraction of the smallest round trip DualRTT's threshold is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub enum Threshold {
    /// So many thousandths.
    #[choice(skip)]
    Fixed(u32),
    /// One and a half times the spacing of acknowledgments, and at most nine tenths of the smallest
    /// round trip: held segments leave the bottleneck one serialisation time apart.
    Physical,
    /// The paper's model (equations 3 and 6) of the path that the sender is told of, with this
    /// logarithm: the paper names none.
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
    /// The best of Table V for the bandwidth that the sender is told of: that of the row whose
    /// bandwidth is nearest on a logarithmic axis. The table is for a delay of 200 ms.
    Table,
    /// The paper's model with the natural logarithm, of the path as the sender's acknowledgments
    /// show it; a tenth as long as they show too little, at the start and on a new path
    /// (section V-B).
    Online,
}

impl Threshold {
    /// What it goes by and is not known of the path, if anything.
    pub const fn lacks(self, path: KnownPath) -> Option<PathFact> {
        match (self, path.rate, path.delay) {
            (Self::Paper(_) | Self::Table, None, _) => Some(PathFact::Rate),
            (Self::Paper(_), _, None) => Some(PathFact::Delay),
            (Self::Fixed(_) | Self::Physical | Self::Paper(_) | Self::Table | Self::Online, ..) => {
                None
            }
        }
    }
}

/// Which logarithm DualRTT's model takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Logarithm {
    /// Of base e: thresholds about 0.2 on the paths of Table V.
    Natural,
    /// Of base 10: thresholds about 0.085 there.
    Decimal,
}

impl Default for Threshold {
    /// What the paper advises where nothing is known of the path (section V).
    fn default() -> Self {
        Self::Fixed(100)
    }
}

impl Settings for Threshold {
    fn about() -> &'static str {
        "What fraction of the smallest round trip DualRTT's threshold is."
    }

    fn each(&mut self, visit: &mut dyn FnMut(Setting<'_>)) {
        const RIVALS: [&str; 2] = ["threshold", "model"];
        let about =
            "An acknowledgment is too soon within this fraction of the smallest round trip.";
        let mut fixed = match self {
            Self::Fixed(thousandths) => Some(*thousandths),
            _ => None,
        };
        let mut written = WrittenOption::<Thousandths, _>::new(&mut fixed);
        visit(Setting { rivals: &RIVALS, ..Setting::value(RIVALS[0], about, &mut written) });
        *self = fixed.map_or(*self, Self::Fixed);
        let about = "Instead of `threshold`: what the fraction goes by.";
        let mut model = Some(*self).filter(|model| !matches!(model, Self::Fixed(_)));
        let mut written = WrittenOption::<Self, _>::new(&mut model);
        visit(Setting { rivals: &RIVALS, ..Setting::value(RIVALS[1], about, &mut written) });
        *self = model.unwrap_or(*self);
    }
}

/// How DualRTT judges the first new acknowledgment after a timeout.
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

/// What a spurious timeout or fast retransmit restores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub enum Response {
    /// Nothing, and what is outstanding is sent again.
    None,
    /// Nothing, but no more is sent again.
    StopGbn,
    /// The window is the halved `ssthresh` (report C-2002-07 section 3 step 3 i).
    Half,
    /// Window and `ssthresh` as before (Ludwig and Katz 2000).
    Full,
    /// By how often the timer expired for the segment: once, as before; twice, half the window of
    /// before is both; more often, as the timeouts left it. Ludwig and Katz 2000 from memory, not
    /// checked against the paper.
    #[choice("full:scaled")]
    FullScaled,
    /// The window is what was outstanding and one segment, `ssthresh` the former window
    /// (`spurious_response_` 1 of ns-2).
    #[choice("ns2:full")]
    Ns2Full,
    /// The window is the halved `ssthresh`, with slow start from there to the former window
    /// (`spurious_response_` 2 of ns-2).
    #[choice("ns2:half")]
    Ns2Half,
    /// Slow start from one segment to the former window (`spurious_response_` 3 of ns-2).
    #[choice("ns2:slow-start")]
    Ns2SlowStart,
    /// RFC 4015, with its timeout.
    Rfc4015,
    /// Neither is less than before, nor than now (`tcp_undo_cwnd_reduction`).
    Linux,
    /// Rate halving from what is outstanding to the halved `ssthresh` (`tcp_frto_response` 0 of
    /// Linux 2.6.22 to 3.9).
    #[choice("linux2.6:halving")]
    Linux26Halving,
    /// What is outstanding, but at most the halved `ssthresh` (`tcp_frto_response` 1).
    #[choice("linux2.6:conservative")]
    Linux26Conservative,
    /// Twice the halved `ssthresh`, and `ssthresh` not below three quarters of the window of before
    /// (`tcp_frto_response` 2).
    #[choice("linux2.6:undo")]
    Linux26Undo,
    /// As before, with the recovery that was under way and with `recover`, whatever
    /// [`RecoverOnUndo`](super::RecoverOnUndo) says (`tcp_input.c` of FreeBSD).
    Bsd,
}
