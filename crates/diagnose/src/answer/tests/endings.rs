//! Tests of sentences about the end of connections.

use super::*;
use crate::failure::FailureKind;
use crate::totals::FailedConnections;

#[test]
fn an_end_that_stopped_is_named() {
    let of = |connections: u64, end| {
        said(closing::stopped_at_end(&totals(|totals| {
            totals.connections = connections;
            totals.stopped_at_end = waits(connections, 30.0, 20.0);
            totals.stopped_first = Some((end, 4));
        })))
    };
    for (end, closer) in [("client", "server"), ("server", "client")] {
        let one = of(1, end);
        let expected = format!("Nothing more came from the {end} for 20.0 s, until the {closer} ");
        assert!(one.starts_with(&expected), "{one}");
        assert!(one.ends_with("(1 FIN without an answer)"), "{one}");
    }
    let two = of(2, "client");
    assert!(two.starts_with("In 2 connections, such as number 4, nothing more came for up to 20"));
}

#[test]
fn a_connection_that_was_idle_at_its_end_is_so_if_it_had_data() {
    let of = |connections, segments, stopped| {
        said(closing::idle_before_close(&totals(|totals| {
            (totals.connections, totals.segments) = (connections, segments);
            totals.closing = waits(1, 20.0, 20.0);
            totals.stopped_at_end = waits(stopped, 20.0, 20.0);
        })))
    };
    assert!(of(1, 1, 0).starts_with("The connection was idle for 20.0 s before an end closed it."));
    for (connections, segments, stopped) in [(2, 1, 0), (1, 0, 0), (1, 1, 1)] {
        assert_eq!(of(connections, segments, stopped), "");
    }
}

#[test]
fn connections_without_data_are_those_of_health_checks_unless_an_end_stopped() {
    let of = |connections, stopped| {
        said(closing::no_data(&totals(|totals| {
            (totals.connections, totals.segments) = (connections, 0);
            totals.stopped_at_end = waits(stopped, 20.0, 20.0);
        })))
    };
    assert_eq!(
        of(1, 0),
        "No data was captured: the connection carried none, as that of a health check. Without \
         data no loss or delay can show. (1 connection, 0 data segments)"
    );
    assert!(of(2, 0).contains("the connections carried none, as those of health checks."));
    assert!(of(1, 1).starts_with("No data was captured. Without data"));
    assert_eq!(of(0, 0), "");
    let failed = totals(|totals| {
        totals.segments = 0;
        totals.failures.insert(FailureKind::Refused, FailedConnections::default());
    });
    assert_eq!(said(closing::no_data(&failed)), "");
}

/// Failures of this many connections.
fn failed(kind: FailureKind, connections: u64, outstanding: u64) -> String {
    let failed = FailedConnections {
        count: connections,
        number: 7,
        peer: "192.0.2.1:80".into(),
        by: "server",
        repeats: 3,
        silent: 12.0,
        outstanding,
        ..FailedConnections::default()
    };
    said(failures::sentences(&totals(|totals| {
        totals.connections = connections;
        totals.failures.insert(kind, failed);
    })))
}

#[test]
fn failures_of_one_connection_are_described() {
    for (kind, outstanding, text, basis) in [
        (FailureKind::Refused, 0, "192.0.2.1:80 refused the connection", "(1 reset)"),
        (
            FailureKind::DataUnanswered,
            0,
            "192.0.2.1:80 never acknowledged the FIN: for the last 12.0 s it sent nothing.",
            "(3 retransmissions, no answer)",
        ),
        (
            FailureKind::DataUnanswered,
            2000,
            "In the connection's last 12.0 s nothing came back from 192.0.2.1:80, and 2.0 kB",
            "(3 retransmissions, no answer)",
        ),
        (
            FailureKind::KeepAliveUnanswered,
            0,
            "In the connection's last 12.0 s 192.0.2.1:80 answered no keep-alive.",
            "(3 probes, no answer)",
        ),
        (
            FailureKind::NotAccepted,
            0,
            "192.0.2.1:80 did not take the connection: after its SYN-ACK",
            "(3 retransmissions, no answer)",
        ),
        (FailureKind::Reset, 0, "A reset of the server ended the connection right", "(1 reset)"),
        (FailureKind::Reset, 5, "The server reset the connection, with 5 bytes not", "(1 reset)"),
    ] {
        let said = failed(kind, 1, outstanding);
        assert!(said.starts_with(text) && said.ends_with(basis), "{said}");
    }
}

#[test]
fn failures_of_several_connections_name_the_first() {
    for (kind, text) in [
        (FailureKind::SynUnanswered, "2 connections got no answer to the SYN, such as number 7 to"),
        (FailureKind::Refused, "A reset refused 2 connections, such as number 7 to 192.0.2.1:80."),
        (FailureKind::SynAckUnanswered, "2 connections never opened: the SYN-ACK was not"),
        (FailureKind::DataUnanswered, "2 connections got no answer any more, such as number 7."),
        (FailureKind::KeepAliveUnanswered, "2 connections got no answer to keep-alives any more"),
        (FailureKind::Reset, "2 connections ended by a reset while data was not acknowledged,"),
        (FailureKind::NotAccepted, "The server did not take 2 connections, such as number 7 to"),
    ] {
        let said = failed(kind, 2, 1000);
        assert!(said.starts_with(text), "{said}");
    }
}
