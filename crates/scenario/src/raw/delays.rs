//! Recorded propagation delays, as written.

use rtolab_settings::{Choice, Settings};

/// Propagation delays over time, from a file.
#[derive(Clone, Debug, Settings)]
pub(crate) struct DelayTrace {
    /// The file: lines of seconds and milliseconds, the first at 0 s, or the output of `ping -D`.
    /// Its path is relative to this file.
    #[setting(required, example = "traces/ping.txt")]
    pub file: String,
    /// The kind of delay in the file.
    pub of: Measured,
    /// Does the trace start again after its end? Otherwise the last delay stays.
    pub repeats: bool,
}

/// The kind of delay in a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Choice)]
pub(crate) enum Measured {
    /// Delays of one direction.
    #[default]
    OneWay,
    /// Round-trip times, as ping measures them. Each direction takes half.
    RoundTrip,
}
