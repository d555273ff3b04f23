//! The receiving half of each profile.

use rtolab_time::Duration;

use super::behaviour::{Behaviour, NET3, NS2, NS2_NEW, NS2_OLD, PSARAS, sets};
use crate::config::{AckCounts, AckDelay, Config, EchoRule, GapFill};

const LINUX_2_2: &str = "Linux 2.2.12, net/ipv4/tcp_input.c";
const LINUX_2_4: &str = "Linux 2.4, net/ipv4/tcp_input.c and include/net/tcp.h";
const FREEBSD: &str = "FreeBSD 4, netinet/tcp_input.c, tcp_output.c and tcp_timer.h";

pub(super) const LINUX_2_2_RECEIVES: &[Behaviour] = &[
    sets("SACK and timestamps without D-SACK", LINUX_2_2, plain_sack),
    sets("an ACK every two full segments, counted in bytes", LINUX_2_2, every_two_counted),
    sets("the first ACK of data is sent at once", LINUX_2_2, |c| c.receiver.quick_acks = 1),
    sets("a delay of 500 ms at most", LINUX_2_2, delayed::<500>),
    sets(
        "a delay that follows the time between segments",
        "Linux 2.2.12, tcp_delack_estimator; assumed: the bound of 40 ms is that of 2.4",
        |c| c.receiver.ack_delay = AckDelay::Adaptive,
    ),
    sets(
        "the timestamp of a duplicate that ends at the last ACK is echoed",
        "Linux 2.2.12, tcp_replace_ts_recent, where no ACK is delayed",
        |c| c.timestamp.echo = EchoRule::Linux,
    ),
    NO_RXT,
];

pub(super) const LINUX_2_4_RECEIVES: &[Behaviour] = &[
    sets("SACK with D-SACK, and timestamps", LINUX_2_4, dsack),
    sets("D-SACK for what PAWS drops", "Linux 2.4, tcp_send_dupack", |c| {
        c.receiver.dsack_old = true;
    }),
    sets("an ACK every two full segments, counted in bytes", LINUX_2_4, every_two_counted),
    sets(
        "16 ACKs are sent at once, as for a large window",
        "Linux 2.4, tcp_incr_quickack; assumed: a window of 32 segments or more",
        |c| c.receiver.quick_acks = 16,
    ),
    sets("a delay from 40 to 200 ms, by the time between segments", LINUX_2_4, |c| {
        delayed::<200>(c);
        c.receiver.ack_delay = AckDelay::Adaptive;
    }),
    sets(
        "the timestamp of a duplicate that ends at the last ACK is echoed",
        "Linux 2.4, tcp_sequence and tcp_replace_ts_recent",
        |c| c.timestamp.echo = EchoRule::Linux,
    ),
    NO_RXT,
];

pub(super) const FREEBSD_4_1_RECEIVES: &[Behaviour] = &[
    sets("timestamps, but no SACK", FREEBSD, no_sack),
    sets("an ACK every two full segments, as the window moves", FREEBSD, every_two_counted),
    sets("a delay of 100 ms by a timer of its own", FREEBSD, |c| {
        delayed::<100>(c);
        c.receiver.ack_delay = AckDelay::Timer;
    }),
    sets("at once while a gap is open", "FreeBSD 4, TCP_REASS", at_once),
    sets(
        "the timestamp of any duplicate below the last ACK is echoed",
        "FreeBSD 4, tcp_input: the segment is trimmed before it is compared, and its end is not tested",
        |c| c.timestamp.echo = EchoRule::Ns2bis,
    ),
    NO_RXT,
];

pub(super) const BSDI_3_0_RECEIVES: &[Behaviour] = &[
    sets("timestamps, but no SACK", NET3, no_sack),
    sets("an ACK every two full segments, as the window moves", NET3, every_two_counted),
    sets("a heartbeat of 200 ms, at 0 s unless a phase is set", "4.4BSD, tcp_fasttimo", |c| {
        delayed::<200>(c);
        c.receiver.ack_delay = AckDelay::Heartbeat;
    }),
    sets("at once while a gap is open", "4.4BSD, TCP_REASS", at_once),
    sets("a timestamp is echoed as in RFC 1323", NET3, |c| c.timestamp.echo = EchoRule::Rfc1323),
    NO_RXT,
];

pub(super) const WINDOWS_98_RECEIVES: &[Behaviour] = &[
    sets("SACK, for a sender that offers it", "Microsoft KB Q188307", |c| {
        (c.sack, c.dsack) = (true, false);
    }),
    sets("no timestamps", "Windows 98, Tcp1323Opts: off by default", |c| c.timestamps = false),
    sets("every second segment at once, a lone one after 200 ms", "assumed: as Windows NT", |c| {
        every_second_segment(c);
        delayed::<200>(c);
    }),
    NO_RXT,
];

pub(super) const WINDOWS_NT_RECEIVES: &[Behaviour] = &[
    sets("no SACK", "assumed: new in Windows 98 and 2000", |c| {
        (c.sack, c.dsack) = (false, false);
    }),
    sets(
        "no timestamps",
        "Microsoft KB Q199947: no large windows; assumed: nor the rest of RFC 1323",
        |c| c.timestamps = false,
    ),
    sets(
        "every second segment at once, a lone one after 200 ms",
        "Windows NT 4.0 SP4, TcpDelAckTicks: 2 by default",
        |c| {
            every_second_segment(c);
            delayed::<200>(c);
        },
    ),
    NO_RXT,
];

pub(super) const SOLARIS_2007_RECEIVES: &[Behaviour] = &[
    sets("SACK and timestamps", PSARAS, plain_sack),
    sets(
        "a delay of 100 ms",
        "Psaras and Tsaoussidis 2007, table 1: 50 to 100 ms; Solaris Tunable Parameters, \
         tcp_deferred_ack_interval: 100 ms but on one's own network",
        delayed::<100>,
    ),
    sets(
        "an ACK every two full segments",
        "Solaris Tunable Parameters, tcp_deferred_acks_max",
        every_two_counted,
    ),
    NO_RXT,
];

pub(super) const WINDOWS_2007_RECEIVES: &[Behaviour] = &[
    sets("SACK and timestamps", PSARAS, plain_sack),
    sets("a delay of 200 ms", "Psaras and Tsaoussidis 2007, table 1", delayed::<200>),
    sets(
        "an ACK every two segments",
        "Psaras and Tsaoussidis 2007, section 3",
        every_second_segment,
    ),
    NO_RXT,
];

pub(super) const NS2_2001_RECEIVES: &[Behaviour] = &[
    sets("SACK and timestamps", "ns-2, Agent/TCPSink/Sack1", plain_sack),
    sets("three SACK blocks", NS2, |c| c.receiver.max_sack_blocks = 3),
    sets("each segment is acknowledged", "ns-2, Agent/TCPSink", |c| c.receiver.ack_every = 1),
    sets("100 ms, if ACKs are delayed", "ns-2, Agent/TCPSink/DelAck", delayed::<100>),
    sets("a filled gap is acknowledged at once", "ns-2, RFC2581_immediate_ack_", at_once),
    sets("every timestamp is echoed: no ts_echo_bugfix_", NS2_OLD, |c| {
        c.timestamp.echo = EchoRule::EchoAll;
    }),
    NO_RXT,
];

pub(super) const NS2_2006_RECEIVES: &[Behaviour] = &[
    sets("SACK and timestamps", "ns-2, Agent/TCPSink/Sack1", plain_sack),
    sets("three SACK blocks", NS2_NEW, |c| c.receiver.max_sack_blocks = 3),
    sets("each segment is acknowledged", "ns-2, Agent/TCPSink", |c| c.receiver.ack_every = 1),
    sets("100 ms, if ACKs are delayed", "ns-2, Agent/TCPSink/DelAck", delayed::<100>),
    sets("a filled gap is acknowledged at once", "ns-2, RFC2581_immediate_ack_", at_once),
    sets("a duplicate's timestamp is echoed, none above a gap", NS2_NEW, |c| {
        c.timestamp.echo = EchoRule::Ns2bis;
    }),
    NO_RXT,
];

/// No system ever shipped it.
pub(super) const NO_RXT: Behaviour =
    sets("no echo of RXT", "assumed: draft-ludwig-tsvwg-tcp-rxt-flag-03 was a proposal", |c| {
        c.receiver.rxt_echo = false;
    });

pub(super) fn delayed<const MILLIS: u64>(config: &mut Config) {
    config.receiver.delayed_ack = Duration::from_millis(MILLIS);
}

fn every_second_segment(config: &mut Config) {
    config.receiver.ack_every = 2;
    config.receiver.ack_counts = AckCounts::Segments;
}

pub(super) fn every_two_counted(config: &mut Config) {
    config.receiver.ack_every = 2;
    config.receiver.ack_counts = AckCounts::Bytes;
}

pub(super) fn at_once(config: &mut Config) {
    config.receiver.gap_fill = GapFill::AtOnce;
}

pub(super) fn dsack(config: &mut Config) {
    (config.sack, config.dsack, config.timestamps) = (true, true, true);
}

pub(super) fn plain_sack(config: &mut Config) {
    (config.sack, config.dsack, config.timestamps) = (true, false, true);
}

fn no_sack(config: &mut Config) {
    (config.sack, config.dsack, config.timestamps) = (false, false, true);
}
