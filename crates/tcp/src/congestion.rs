//! Congestion control: slow start, congestion avoidance, and the reduction at a loss.
//!
//! A congestion control is a file, a row of `controls!` and a variant of [`CongestionAlgorithm`].

mod bbr;
mod bbr3;
mod control;
mod cubic;
mod hystart;
mod max_filter;
mod model;
mod pacing;
mod rate;
mod reno;
mod unlimited;
mod window;

pub(crate) use control::{Acked, CongestionControl};
pub use model::ModelState;
pub(crate) use model::{ModelContext, Modelled, PathModel};
pub(crate) use pacing::Pacer;
pub(crate) use rate::RateSampler;
pub use window::Window;

use alloc::boxed::Box;

use rtolab_time::{Duration, Instant};

use crate::config::{
    Config, CongestionAlgorithm, CongestionConfig, CubicGrowth, CubicUndo, HalvedQuantity,
    PacingRate, SlowStartExit,
};
use crate::seq::Seq;
use bbr::Bbr;
use bbr3::Bbr3;
use cubic::{Cubic, LinuxCubic};
use hystart::HyStart;
use reno::Reno;
use unlimited::Unlimited;

/// A term of a sender specification that names a congestion control.
#[derive(Clone, Copy)]
pub(crate) struct ControlTerm {
    pub name: &'static str,
    pub title: &'static str,
    pub source: &'static str,
    pub set: fn(&mut Config),
}

/// Makes the table of congestion controls, and the enum that holds the state of one. A row has the
/// variant of [`CongestionAlgorithm`], the types of the state and its constructor, and for each
/// term of a sender specification its name, title, source and further settings.
macro_rules! controls {
    ($($choice:ident [$($state:ident),+] $new:expr
        $(, { $term:literal, $title:literal, $source:literal, $set:expr })*;)+) => {
        /// Every term of a sender specification that names a congestion control.
        pub(crate) const CONTROL_TERMS: &[ControlTerm] = &[$($(ControlTerm {
            name: $term,
            title: $title,
            source: $source,
            set: |config| {
                config.congestion.control = CongestionAlgorithm::$choice;
                let set: fn(&mut Config) = $set;
                set(config);
            },
        },)*)+];

        /// The state of a congestion control.
        #[derive(Clone, Debug)]
        pub(crate) enum ControlState {
            $($($state($state),)+)+
        }

        $($(impl From<$state> for ControlState {
            fn from(state: $state) -> Self {
                Self::$state(state)
            }
        })+)+

        impl ControlState {
            fn new(config: &CongestionConfig) -> Self {
                let new: fn(&CongestionConfig) -> Self = match config.control {
                    $(CongestionAlgorithm::$choice => $new,)+
                };
                new(config)
            }
        }

        impl CongestionControl for ControlState {
            fn congestion_avoidance(&mut self, window: &mut Window, acked: &Acked) {
                match self { $($(Self::$state(it) => it.congestion_avoidance(window, acked),)+)+ }
            }
            fn on_loss(&mut self, bytes: u64, cwnd: u64, window: &Window) -> u64 {
                match self { $($(Self::$state(it) => it.on_loss(bytes, cwnd, window),)+)+ }
            }
            fn on_timeout(&mut self) {
                match self { $($(Self::$state(it) => it.on_timeout(),)+)+ }
            }
            fn on_rtt(&mut self, rtt: Duration) {
                match self { $($(Self::$state(it) => it.on_rtt(rtt),)+)+ }
            }
            fn ignores_rtt(&self, at: Instant) -> bool {
                match self { $($(Self::$state(it) => it.ignores_rtt(at),)+)+ }
            }
            fn after_idle(&mut self, since: Instant, until: Instant) {
                match self { $($(Self::$state(it) => it.after_idle(since, until),)+)+ }
            }
            fn save(&mut self) {
                match self { $($(Self::$state(it) => it.save(),)+)+ }
            }
            fn undo(&mut self) {
                match self { $($(Self::$state(it) => it.undo(),)+)+ }
            }
            fn keeps_window(&self, before: u64, cwnd: u64) -> bool {
                match self { $($(Self::$state(it) => it.keeps_window(before, cwnd),)+)+ }
            }
            fn is_limiting(&self) -> bool {
                match self { $($(Self::$state(it) => it.is_limiting(),)+)+ }
            }
            fn model(&mut self) -> Option<&mut dyn PathModel> {
                match self { $($(Self::$state(it) => it.model(),)+)+ }
            }
            fn model_state(&self, smss: u64) -> Option<ModelState> {
                match self { $($(Self::$state(it) => it.model_state(smss),)+)+ }
            }
        }
    };
}

controls! {
    Reno [Reno] |_| Reno.into();
    Bbr [Bbr] |_| Bbr::new().into(),
        { "bbr", "BBR version 1: it paces by a model of the path", "Linux 6.12, tcp_bbr.c", |_| {} };
    Bbr3 [Bbr3] |_| Bbr3::new().into(),
        { "bbr3", "BBR version 3, which also heeds losses", "draft-ietf-ccwg-bbr-06", |_| {} };
    Cubic [Cubic, LinuxCubic] |config| match config.cubic.growth {
        CubicGrowth::Rfc9438 => Cubic::new(config.cubic).into(),
        CubicGrowth::Linux => LinuxCubic::new(config.cubic).into(),
    },
        { "cubic", "CUBIC", "RFC 9438", |_| {} },
        { "cubic:linux", "CUBIC, whose curve no undo restores", "Linux, tcp_cubic.c", |config| {
            config.congestion.cubic.undo = CubicUndo::Linux;
            config.congestion.cubic.growth = CubicGrowth::Linux;
            config.window.halves = HalvedQuantity::CongestionWindow;
        }};
    None [Unlimited] |_| Unlimited.into(),
        { "no-control", "no window but the advertised one", "smoltcp 0.13, NoControl", |_| {} };
}

/// Congestion control, HyStart and pacing of a sender that is not plain Reno.
#[derive(Clone, Debug)]
pub(crate) struct Controller {
    pub state: ControlState,
    hystart: Option<HyStart>,
    /// When data was last sent, if nothing is outstanding.
    idle_since: Option<Instant>,
    /// Pacing, if the sender paces.
    pub pacing: Option<Box<Pacing>>,
}

/// Pacing, and the inputs of a model of the path.
#[derive(Clone, Debug)]
pub(crate) struct Pacing {
    pub pacer: Pacer,
    /// If congestion control is a model.
    pub modelled: Option<Modelled>,
}

impl Controller {
    /// The congestion control of `config`; `None`: plain Reno without pacing.
    pub fn new(config: &Config) -> Option<Box<Self>> {
        let CongestionConfig { control, slow_start_exit, .. } = config.congestion;
        let mut state = ControlState::new(&config.congestion);
        let has_model = state.model().is_some();
        let exit = if has_model { SlowStartExit::Loss } else { slow_start_exit };
        let hystart = HyStart::new(exit);
        let paces = has_model || config.pacing.rate != PacingRate::Off;
        if control == CongestionAlgorithm::Reno && hystart.is_none() && !paces {
            return None;
        }
        let pacer = Pacer::new(config.pacing);
        let pacing = paces.then(|| Box::new(Pacing { pacer, modelled: None }));
        Some(Box::new(Self { state, hystart, idle_since: None, pacing }))
    }

    /// Grows the window for an ACK of new data. `idle_since`: when data was last sent, if the ACK
    /// leaves nothing outstanding.
    pub fn on_ack(&mut self, window: &mut Window, acked: &Acked, idle_since: Option<Instant>) {
        if let Some(since) = core::mem::replace(&mut self.idle_since, idle_since) {
            self.state.after_idle(since, acked.oldest_sent.unwrap_or(since));
        }
        let mut acked = *acked;
        if window.cwnd() < window.ssthresh() {
            acked.bytes = match &mut self.hystart {
                Some(hystart) => hystart.slow_start(window, &acked),
                None => window.slow_start(acked.bytes),
            };
            if acked.bytes == 0 {
                return;
            }
        }
        window.timed_out = false;
        self.state.congestion_avoidance(window, &acked);
    }

    /// Processes a round-trip sample. `acks_syn`: it is that of the handshake.
    pub fn on_rtt(&mut self, rtt: Duration, at: Instant, acks_syn: bool) {
        if self.state.ignores_rtt(at) {
            return;
        }
        // CUBIC starts after the handshake (`tcp_init_transfer`).
        if !acks_syn {
            self.state.on_rtt(rtt);
        }
        if let Some(hystart) = &mut self.hystart {
            hystart.on_rtt(rtt);
        }
    }

    /// Processes the arrival of an ACK, new or not: HyStart may end slow start before the window
    /// grows.
    pub fn on_any_ack(&mut self, window: &mut Window, acked: &Acked) {
        if let Some(hystart) = &mut self.hystart {
            hystart.on_any_ack(window, acked);
        }
    }

    /// See [`CongestionControl::on_loss`].
    pub fn on_loss(&mut self, bytes: u64, cwnd: u64, window: &Window) -> u64 {
        if let Some(hystart) = &mut self.hystart {
            hystart.on_loss();
        }
        self.state.on_loss(bytes, cwnd, window)
    }

    /// The retransmission timer expired at `at`, when SND.MAX was `max`.
    pub fn on_timeout(&mut self, at: Instant, max: Seq) {
        self.state.on_timeout();
        if let Some(hystart) = &mut self.hystart {
            hystart.on_timeout(at, max);
        }
    }

    /// Collects delivery-rate samples for a model.
    #[inline]
    pub fn sampler(&mut self) -> Option<&mut RateSampler> {
        Some(&mut self.pacing.as_mut()?.modelled.as_mut()?.rate)
    }
}
