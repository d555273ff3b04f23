//! Congestion control, over the defaults of the engine.

use rtolab_tcp::config::{CongestionConfig, CubicConfig};

use super::tcp::set;
use crate::written::value::Chance;
use crate::written::{Congestion, Cubic};

/// Sets what is written.
pub(super) fn congestion(written: &Congestion, cubic: &Cubic, config: &mut CongestionConfig) {
    let Congestion { control, slow_start_exit } = written;
    set(&mut config.control, *control);
    set(&mut config.slow_start_exit, *slow_start_exit);
    set_cubic(cubic, &mut config.cubic);
}

fn set_cubic(written: &Cubic, config: &mut CubicConfig) {
    let Cubic { beta, fast_convergence, reno_friendly, undo, growth } = written;
    if let Some(Chance(beta)) = beta {
        config.beta = (beta.value() * 1000.0).round() as u32;
    }
    config.fast_convergence = fast_convergence.unwrap_or(config.fast_convergence);
    config.reno_friendly = reno_friendly.unwrap_or(config.reno_friendly);
    set(&mut config.undo, *undo);
    set(&mut config.growth, *growth);
}
