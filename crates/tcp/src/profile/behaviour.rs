//! Profiles of systems, and the behaviours of which they consist.

use rtolab_time::Duration;

use super::Sysctl;
use crate::config::{Config, IdleRestart, InitialWindow, RtoFloor};

pub(super) const PSARAS: &str = "Psaras and Tsaoussidis 2007, table 1 and section 5";
pub(super) const NET3: &str = "4.4BSD, netinet/tcp_input.c and tcp_timer.c";
pub(super) const NS2: &str = "ns-2, TcpAgent";
pub(super) const NS2_OLD: &str =
    "ns-2, \"updating global defaults\" of its test suites: before the change";
pub(super) const NS2_NEW: &str = "ns-2.35, tcl/lib/ns-default.tcl";

/// The profile of a system: its sender and its receiver, which may be used separately.
#[derive(Clone, Copy, Debug)]
pub struct Profile {
    /// Its name, as the first term of a sender specification or as a receiver.
    pub name: &'static str,
    /// What it is, in one sentence.
    pub about: &'static str,
    /// The source. Undocumented behaviours are assumed, and say so.
    pub source: &'static str,
    /// The behaviours of its sender, which override the scenario.
    pub sends: &'static [Behaviour],
    /// The behaviours of its receiver.
    pub receives: &'static [Behaviour],
    /// Applies the settings of its kernel, if it has any.
    pub kernel: Option<fn(&Sysctl, &mut Config)>,
}

/// A documented behaviour of a system: parameters with their source.
#[derive(Clone, Copy, Debug)]
pub struct Behaviour {
    /// What it does.
    pub about: &'static str,
    /// The source, or "assumed".
    pub source: &'static str,
    set: fn(&mut Config),
}

impl Profile {
    /// Configures a host to send as the system does.
    pub fn apply(&self, config: &mut Config) {
        for behaviour in self.sends {
            (behaviour.set)(config);
        }
    }

    /// Configures a host to send as the system does with these kernel settings.
    pub fn apply_with(&self, kernel: &Sysctl, config: &mut Config) {
        self.apply(config);
        if let Some(set) = self.kernel {
            set(kernel, config);
        }
    }

    /// Configures a host to receive as the system does, and sets nothing else.
    pub fn apply_to_receiver(&self, config: &mut Config) {
        for behaviour in self.receives {
            (behaviour.set)(config);
        }
    }
}

/// A behaviour that `set` configures.
pub(super) const fn sets(
    about: &'static str,
    source: &'static str,
    set: fn(&mut Config),
) -> Behaviour {
    Behaviour { about, source, set }
}

pub(super) fn initial_segments<const COUNT: u32>(config: &mut Config) {
    config.window.initial = InitialWindow::Segments(COUNT);
}

pub(super) fn floor<const MILLIS: u64>(config: &mut Config) {
    config.rto.floor = RtoFloor::Total(Duration::from_millis(MILLIS));
}

pub(super) fn restarts_when_idle(config: &mut Config) {
    config.window.idle_restart = IdleRestart::LastSent;
}
