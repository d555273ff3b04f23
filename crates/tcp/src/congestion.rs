//! How fast? Slow start, congestion avoidance, and what a loss leaves of the window.
//!
//! A congestion control is a file, a row of `controls!` and a variant of [`CongestionAlgorithm`].

mod control;
mod cubic;
mod hystart;
mod reno;
mod unlimited;
mod window;

pub(crate) use control::{Acked, CongestionControl};
pub use window::Window;

use alloc::boxed::Box;

use rtolab_time::{Duration, Instant};

use crate::config::{
    Config, CongestionAlgorithm, CongestionConfig, CubicGrowth, CubicUndo, Halves,
};
use cubic::{Cubic, LinuxCubic};
use hystart::HyStart;
use reno::Reno;
use unlimited::Unlimited;

/// A form of a congestion control that a sender may name.
#[derive(Clone, Copy)]
pub(crate) struct ControlTerm {
    pub name: &'static str,
    pub title: &'static str,
    pub source: &'static str,
    pub set: fn(&mut Config),
}

/// Makes the table of congestion controls, and the enum that holds the state of one. A row is: what
/// a scenario chooses; the types of its state, and how that is made; and for senders the name,
/// title and source of each form, and what it sets beside the choice.
macro_rules! controls {
    ($($choice:ident [$($state:ident),+] $new:expr
        $(, { $term:literal, $title:literal, $source:literal, $set:expr })*;)+) => {
        /// Every form of one that a sender may name.
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
        #[derive(Clone, Copy, Debug)]
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
            fn after_idle(&mut self, idle: Duration) {
                match self { $($(Self::$state(it) => it.after_idle(idle),)+)+ }
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
        }
    };
}

controls! {
    Reno [Reno] |_| Reno.into();
    Cubic [Cubic, LinuxCubic] |config| match config.cubic.growth {
        CubicGrowth::Rfc9438 => Cubic::new(config.cubic).into(),
        CubicGrowth::Linux => LinuxCubic::new(config.cubic).into(),
    },
        { "cubic", "CUBIC", "RFC 9438", |_| {} },
        { "cubic:linux", "CUBIC, whose curve no undo restores", "Linux, tcp_cubic.c", |config| {
            config.congestion.cubic.undo = CubicUndo::Linux;
            config.congestion.cubic.growth = CubicGrowth::Linux;
            config.window.halves = Halves::CongestionWindow;
        }};
    None [Unlimited] |_| Unlimited.into(),
        { "no-control", "no window but the one that is offered", "smoltcp 0.13, NoControl", |_| {} };
}

/// Congestion control and HyStart of a sender that is not plain Reno.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Controller {
    pub state: ControlState,
    hystart: Option<HyStart>,
    /// When data left last, if nothing is outstanding since.
    idle_since: Option<Instant>,
}

impl Controller {
    /// The one that `config` names; `None`: Reno alone.
    pub fn new(config: &CongestionConfig) -> Option<Box<Self>> {
        let hystart = HyStart::new(config.slow_start_exit);
        let plain = config.control == CongestionAlgorithm::Reno && hystart.is_none();
        (!plain)
            .then(|| Box::new(Self { state: ControlState::new(config), hystart, idle_since: None }))
    }

    /// New data are acknowledged, and the window may grow. Nothing is outstanding since
    /// `idle_since`.
    pub fn on_ack(&mut self, window: &mut Window, acked: &Acked, idle_since: Option<Instant>) {
        if let Some(since) = core::mem::replace(&mut self.idle_since, idle_since) {
            self.state.after_idle(acked.oldest_sent.unwrap_or(since) - since);
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

    /// A round trip was measured, of the handshake if an ACK `acks_syn`.
    pub fn on_rtt(&mut self, rtt: Duration, at: Instant, acks_syn: bool) {
        if self.state.ignores_rtt(at) {
            return;
        }
        // CUBIC begins after the handshake (`tcp_init_transfer`).
        if !acks_syn {
            self.state.on_rtt(rtt);
        }
        if let Some(hystart) = &mut self.hystart {
            hystart.on_rtt(rtt);
        }
    }

    /// An acknowledgment arrived: HyStart may end slow start before the window grows.
    pub fn on_arrival(&mut self, window: &mut Window, acked: &Acked) {
        if let Some(hystart) = &mut self.hystart {
            hystart.on_arrival(window, acked);
        }
    }

    /// A loss or a congestion mark: see [`CongestionControl::on_loss`].
    pub fn on_loss(&mut self, bytes: u64, cwnd: u64, window: &Window) -> u64 {
        if let Some(hystart) = &mut self.hystart {
            hystart.on_loss();
        }
        self.state.on_loss(bytes, cwnd, window)
    }

    /// The retransmission timer expired.
    pub fn on_timeout(&mut self) {
        self.state.on_timeout();
        if let Some(hystart) = &mut self.hystart {
            hystart.on_timeout();
        }
    }
}
