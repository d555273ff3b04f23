//! What the systems' receivers do: the receiving half of each profile.

use rtolab_time::Duration;

use super::{NET3, NS2, NS2_NEW, NS2_OLD, PSARAS, Quirk, quirk};
use crate::config::{AckCounts, AckDelay, Config, EchoRule, GapFill};

const LINUX_2_2: &str = "Linux 2.2.12, net/ipv4/tcp_input.c";
const LINUX_2_4: &str = "Linux 2.4, net/ipv4/tcp_input.c and include/net/tcp.h";
const FREEBSD: &str = "FreeBSD 4, netinet/tcp_input.c, tcp_output.c and tcp_timer.h";

pub(super) const LINUX_2_2_QUIRKS: &[Quirk] = &[
    quirk("SACK and timestamps without D-SACK", LINUX_2_2, plain_sack),
    quirk("an ACK every two full segments, counted in bytes", LINUX_2_2, every_two_counted),
    quirk("the first ACK of data leaves at once", LINUX_2_2, |c| c.receiver.quick_acks = 1),
    quirk("a delay of 500 ms at most", LINUX_2_2, |c| delayed(c, 500)),
    quirk(
        "a delay that follows the time between segments",
        "Linux 2.2.12, tcp_delack_estimator; assumed: the bound of 40 ms is that of 2.4",
        |c| c.receiver.ack_delay = AckDelay::Adaptive,
    ),
    quirk(
        "a duplicate that ends at the last ACK has its timestamp echoed",
        "Linux 2.2.12, tcp_replace_ts_recent, where no ACK is delayed",
        |c| c.timestamp.echo = EchoRule::Linux,
    ),
    NO_RXT,
];

pub(super) const LINUX_2_4_QUIRKS: &[Quirk] = &[
    quirk("SACK with D-SACK, and timestamps", LINUX_2_4, |c| {
        (c.sack, c.dsack, c.timestamps) = (true, true, true);
    }),
    quirk("D-SACK for what is dropped as old", "Linux 2.4, tcp_send_dupack", |c| {
        c.receiver.dsack_old = true;
    }),
    quirk("an ACK every two full segments, counted in bytes", LINUX_2_4, every_two_counted),
    quirk(
        "16 ACKs leave at once, as for a large window",
        "Linux 2.4, tcp_incr_quickack; assumed: a window of 32 segments or more",
        |c| c.receiver.quick_acks = 16,
    ),
    quirk("a delay from 40 to 200 ms, by the time between segments", LINUX_2_4, |c| {
        delayed(c, 200);
        c.receiver.ack_delay = AckDelay::Adaptive;
    }),
    quirk(
        "a duplicate that ends at the last ACK has its timestamp echoed",
        "Linux 2.4, tcp_sequence and tcp_replace_ts_recent",
        |c| c.timestamp.echo = EchoRule::Linux,
    ),
    NO_RXT,
];

pub(super) const FREEBSD_4_1_QUIRKS: &[Quirk] = &[
    quirk("timestamps, but no SACK", FREEBSD, no_sack),
    quirk("an ACK every two full segments, as the window moves", FREEBSD, every_two_counted),
    quirk("a delay of 100 ms by a timer of its own", FREEBSD, |c| {
        delayed(c, 100);
        c.receiver.ack_delay = AckDelay::Timer;
    }),
    quirk("at once while anything is queued", "FreeBSD 4, TCP_REASS", at_once),
    quirk(
        "any duplicate below the last ACK has its timestamp echoed",
        "FreeBSD 4, tcp_input: the segment is trimmed before it is compared, and nothing asks for \
         its end",
        |c| c.timestamp.echo = EchoRule::Ns2bis,
    ),
    NO_RXT,
];

pub(super) const BSDI_3_0_QUIRKS: &[Quirk] = &[
    quirk("timestamps, but no SACK", NET3, no_sack),
    quirk("an ACK every two full segments, as the window moves", NET3, every_two_counted),
    quirk("a heartbeat of 200 ms, at 0 s where no phase is set", "4.4BSD, tcp_fasttimo", |c| {
        delayed(c, 200);
        c.receiver.ack_delay = AckDelay::Heartbeat;
    }),
    quirk("at once while anything is queued", "4.4BSD, TCP_REASS", at_once),
    quirk("a timestamp is echoed as in RFC 1323", NET3, |c| {
        c.timestamp.echo = EchoRule::Rfc1323;
    }),
    NO_RXT,
];

pub(super) const WINDOWS_98_QUIRKS: &[Quirk] = &[
    quirk("SACK, for a sender that offers it", "Microsoft KB Q188307", |c| {
        (c.sack, c.dsack) = (true, false);
    }),
    quirk("no timestamps", "Windows 98, Tcp1323Opts: off by default", |c| c.timestamps = false),
    quirk("every second segment at once, a lone one after 200 ms", "assumed: as Windows NT", |c| {
        every_second_segment(c);
        delayed(c, 200);
    }),
    NO_RXT,
];

pub(super) const WINDOWS_NT_QUIRKS: &[Quirk] = &[
    quirk("no SACK", "assumed: new in Windows 98 and 2000", |c| {
        (c.sack, c.dsack) = (false, false);
    }),
    quirk(
        "no timestamps",
        "Microsoft KB Q199947: no large windows; assumed: nor the rest of RFC 1323",
        |c| c.timestamps = false,
    ),
    quirk(
        "every second segment at once, a lone one after 200 ms",
        "Windows NT 4.0 SP4, TcpDelAckTicks: 2 by default",
        |c| {
            every_second_segment(c);
            delayed(c, 200);
        },
    ),
    NO_RXT,
];

pub(super) const SOLARIS_2007_QUIRKS: &[Quirk] = &[
    quirk("SACK and timestamps", PSARAS, plain_sack),
    quirk(
        "a delay of 100 ms",
        "Psaras and Tsaoussidis 2007, table 1: 50 to 100 ms; Solaris Tunable Parameters, \
         tcp_deferred_ack_interval: 100 ms but on one's own network",
        |c| delayed(c, 100),
    ),
    quirk(
        "an ACK every two full segments",
        "Solaris Tunable Parameters, tcp_deferred_acks_max",
        every_two_counted,
    ),
    NO_RXT,
];

pub(super) const WINDOWS_2007_QUIRKS: &[Quirk] = &[
    quirk("SACK and timestamps", PSARAS, plain_sack),
    quirk("a delay of 200 ms", "Psaras and Tsaoussidis 2007, table 1", |c| delayed(c, 200)),
    quirk(
        "an ACK every two segments",
        "Psaras and Tsaoussidis 2007, section 3",
        every_second_segment,
    ),
    NO_RXT,
];

pub(super) const NS2_2001_QUIRKS: &[Quirk] = &[
    quirk("SACK and timestamps", "ns-2, Agent/TCPSink/Sack1", plain_sack),
    quirk("three SACK blocks", NS2, |c| c.receiver.max_sack_blocks = 3),
    quirk("each segment is acknowledged", "ns-2, Agent/TCPSink", |c| c.receiver.ack_every = 1),
    quirk("100 ms, where ACKs are delayed", "ns-2, Agent/TCPSink/DelAck", |c| delayed(c, 100)),
    quirk("what fills a gap is acknowledged at once", "ns-2, RFC2581_immediate_ack_", at_once),
    quirk("every segment has its timestamp echoed: no ts_echo_bugfix_", NS2_OLD, |c| {
        c.timestamp.echo = EchoRule::EchoAll;
    }),
    NO_RXT,
];

pub(super) const NS2_2006_QUIRKS: &[Quirk] = &[
    quirk("SACK and timestamps", "ns-2, Agent/TCPSink/Sack1", plain_sack),
    quirk("three SACK blocks", NS2_NEW, |c| c.receiver.max_sack_blocks = 3),
    quirk("each segment is acknowledged", "ns-2, Agent/TCPSink", |c| c.receiver.ack_every = 1),
    quirk("100 ms, where ACKs are delayed", "ns-2, Agent/TCPSink/DelAck", |c| delayed(c, 100)),
    quirk("what fills a gap is acknowledged at once", "ns-2, RFC2581_immediate_ack_", at_once),
    quirk("a duplicate has its timestamp echoed, but nothing above a gap", NS2_NEW, |c| {
        c.timestamp.echo = EchoRule::Ns2bis;
    }),
    NO_RXT,
];

/// No system ever shipped it.
pub(super) const NO_RXT: Quirk =
    quirk("no echo of RXT", "assumed: draft-ludwig-tsvwg-tcp-rxt-flag-03 was a proposal", |c| {
        c.receiver.rxt_echo = false;
    });

fn delayed(config: &mut Config, millis: u64) {
    config.receiver.delayed_ack = Duration::from_millis(millis);
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

pub(super) fn plain_sack(config: &mut Config) {
    (config.sack, config.dsack, config.timestamps) = (true, false, true);
}

fn no_sack(config: &mut Config) {
    (config.sack, config.dsack, config.timestamps) = (false, false, true);
}
