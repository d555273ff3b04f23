//! Any configuration of an endpoint, for properties.

use proptest::prelude::*;
use proptest::sample::select;
use rtolab_tcp::config::{
    Arithmetic, Avoidance, EchoRule, FullAck, Halves, Halving, Outstanding, RecoverOnUndo,
    RepeatedTimeout, RtoFloor, Sampling,
};
use rtolab_tcp::{Config, sum};
use rtolab_time::Duration;

use super::base;

/// Every pair of a loss recovery and what follows a timeout, and each detector and response.
pub const SUMS: [&str; 39] = [
    "tahoe:no-bugfix",
    "tahoe:careful+frto",
    "reno:no-bugfix",
    "reno:careful",
    "reno:less-careful+frto",
    "reno:careful+eifel",
    "newreno:no-bugfix",
    "newreno:less-careful",
    "newreno:impatient",
    "newreno:steady",
    "newreno+frto",
    "newreno:no-bugfix+frto",
    "newreno:less-careful+frto",
    "newreno+eifel",
    "newreno:less-careful+eifel",
    "sack:rfc3517",
    "sack:rfc6675",
    "sack:rfc3517+frto",
    "sack:rfc6675+frto",
    "sack:rfc3517+eifel",
    "sack:rfc6675+eifel",
    "newreno+eifel:rfc3522:rfc4015",
    "sack+eifel:rfc3522:full",
    "sack+eifel:safe:rfc4015",
    "reno:no-bugfix+eifel:bsd",
    "tahoe:careful+dualrtt",
    "newreno:no-bugfix+dualrtt",
    "sack+dualrtt:half",
    "newreno+eifel:rxt",
    "sack+frto+eifel:rxt:rfc4015",
    "newreno+badrexmit",
    "sack+badrexmit+dualrtt",
    "sack+dsack",
    "sack+dsack:linux",
    "sack+dsack:linux+rfc4015",
    "sack+frto+dsack",
    "newreno+frto+eifel+ns2:full",
    "sack+frto+eifel:none",
    "sack+frto+eifel:rfc3522+badrexmit+dsack+ns2:slow-start",
];

/// Any sender, by its sum and by the knobs that no sum names.
pub fn sender() -> impl Strategy<Value = Config> {
    let window = (
        select(vec![Halving::Bytes, Halving::Segments]),
        select(vec![Avoidance::Formula, Avoidance::ByteCounting]),
        select(vec![FullAck::FlightSize, FullAck::Ssthresh, FullAck::Halved]),
        prop::option::of(1..5_u32),
        prop::option::of(1..20_u32),
        select(vec![Halves::FlightSize, Halves::Window]),
        select(vec![RepeatedTimeout::Keeps, RepeatedTimeout::Halves]),
    );
    let recovery = (
        any::<bool>(),
        1..5_u32,
        select(vec![Outstanding::Pipe, Outstanding::Classic]),
        select(vec![RecoverOnUndo::Reset, RecoverOnUndo::Keep, RecoverOnUndo::Discount]),
    );
    let rto = (
        select(vec![Sampling::EveryAck, Sampling::OncePerWindow]),
        any::<bool>(),
        select(vec![0, 10, 500_u64]),
        select(vec![
            RtoFloor::Total(Duration::from_secs(1)),
            RtoFloor::Total(Duration::ZERO),
            RtoFloor::Variance(Duration::from_millis(200)),
            RtoFloor::BackedOff(Duration::from_millis(200)),
        ]),
        select(vec![Arithmetic::Exact, Arithmetic::Ns2]),
        any::<bool>(),
    );
    (select(SUMS.to_vec()), window, recovery, rto, options()).prop_map(
        |(name, window, recovery, rto, options)| {
            let mut config = Config { recover_on_undo: recovery.3, ..options };
            (config.window.halving, config.window.avoidance, config.window.full_ack, ..) = window;
            (config.window.max_burst, config.window.initial_ssthresh) = (window.3, window.4);
            (config.recovery.limited_transmit, config.recovery.dupthresh) =
                (recovery.0, recovery.1);
            config.recovery.sack.outstanding = recovery.2;
            (config.rto.sampling, config.rto.restart_on_retransmit) = (rto.0, rto.1);
            config.rto.granularity = Duration::from_millis(rto.2);
            (config.rto.floor, config.rto.arithmetic, config.rto.sample_handshake) =
                (rto.3, rto.4, rto.5);
            (config.window.halves, config.window.repeated_timeout) = (window.5, window.6);
            sum::sender(name, &config).unwrap()
        },
    )
}

/// What either end may offer, and how it receives.
pub fn options() -> impl Strategy<Value = Config> {
    let echo = select(vec![
        EchoRule::Rfc1323,
        EchoRule::Rfc7323,
        EchoRule::Linux,
        EchoRule::Bsd,
        EchoRule::Ns2bis,
        EchoRule::EchoAll,
    ]);
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    let scale = prop::option::of(0..15_u8);
    (flags, scale, echo, 2_000..200_000_u32, 1..4_u32, 0..500_u64).prop_map(
        |((timestamps, in_mss, sack, dsack), window_scale, echo, buffer, ack_every, delay)| {
            // A window counted in units larger than the buffer would be zero for ever.
            let window_scale = window_scale.map(|shift: u8| shift.min((buffer / 64).ilog2() as u8));
            let mut config = Config { timestamps, sack, dsack, window_scale, ..base() };
            (config.timestamp.in_mss, config.timestamp.echo) = (in_mss, echo);
            (config.receiver.buffer, config.receiver.ack_every) = (buffer, ack_every);
            config.receiver.delayed_ack = Duration::from_millis(delay);
            config
        },
    )
}
