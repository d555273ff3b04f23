//! The columns of the tables, with their types.

use rtolab_record::tables;
use rtolab_table::{Column, Table};

/// One line per column: its name, its type, and `?` if it can be null.
fn columns(table: &Table) -> Vec<String> {
    let column = |column: &Column| {
        let nullable = if column.nullable { "?" } else { "" };
        format!("{} {}{nullable}", column.name, column.cells.values())
    };
    table.columns().iter().map(column).collect()
}

fn assert_columns(table: &Table, expected: &str) {
    let expected: Vec<&str> = ["run UInt32", "seed UInt64", "sender Utf8View"]
        .into_iter()
        .chain(expected.lines().map(str::trim).filter(|line| !line.is_empty()))
        .collect();
    assert_eq!(columns(table), expected);
}

#[test]
fn tables_of_connections_have_all_their_columns() {
    assert_columns(
        &tables::connections(&[]),
        "flow Utf8View
         flow_sender Utf8View
         set Utf8View?
         start_s Float64
         end_s Float64?
         elapsed_s Float64?
         completed Boolean
         bytes UInt64
         segments UInt64
         header_bytes UInt64
         acked_segments UInt64
         retransmissions UInt64
         needed UInt64
         unneeded UInt64
         lost UInt64
         lost_queue UInt64
         lost_error UInt64
         lost_outage UInt64
         lost_early UInt64
         lost_lifetime UInt64
         lost_retries UInt64
         lost_corrupt UInt64
         absorbed UInt64
         local UInt64
         timeouts UInt64
         fast_retransmits UInt64
         spurious_timeouts UInt64?
         ack_lost_timeouts UInt64?
         genuine_timeouts UInt64?
         spurious_fast_retransmits UInt64?
         ack_lost_fast_retransmits UInt64?
         genuine_fast_retransmits UInt64?
         found_spurious UInt64
         acks UInt64
         dupacks UInt64
         goodput_bps Float64?
         delay_packets UInt64
         delay_mean_s Float64?
         delay_max_s Float64?
         measured_s Float64
         measured_bytes UInt64
         measured_acked_segments UInt64
         measured_segments UInt64
         measured_retransmissions UInt64
         measured_timeouts UInt64
         measured_fast_retransmits UInt64
         measured_delay_packets UInt64
         measured_delay_mean_s Float64?",
    );
    assert_columns(
        &tables::timeouts(&[]),
        "flow Utf8View
         at_s Float64
         end Utf8View
         kind Utf8View
         seq Int64
         rto_s Float64
         backoff UInt32
         cwnd UInt64
         needed Boolean
         truth Utf8View?
         cost_s Float64?
         cost_segments Int64?
         verdict Utf8View?
         detector Utf8View?
         verdict_at_s Float64?",
    );
}

#[test]
fn tables_of_scored_runs_have_all_their_columns() {
    assert_columns(
        &tables::verdicts(&[]),
        "flow Utf8View
         at_s Float64
         end Utf8View
         kind Utf8View
         seq Int64
         truth Utf8View?
         detector Utf8View
         verdict Utf8View
         why Utf8View?
         verdict_s Float64?
         delay_s Float64?",
    );
    assert_columns(
        &tables::duplicates(&[]),
        "flow Utf8View
         at_s Float64
         ack Int64
         cause Utf8View?",
    );
    assert_columns(
        &tables::what_if(&[]),
        "flow Utf8View
         at_s Float64
         seq Int64
         truth Utf8View?
         what_if Utf8View
         end_s Float64?
         original_end_s Float64?
         segments UInt64
         original_segments UInt64
         bytes UInt64
         original_bytes UInt64",
    );
}

#[test]
fn tables_of_links_and_samples_have_all_their_columns() {
    assert_columns(
        &tables::windows(&[]),
        "flow Utf8View
         at_s Float64
         cwnd UInt64
         ssthresh UInt64?
         flight UInt64
         srtt_s Float64?
         rttvar_s Float64?
         rto_s Float64",
    );
    assert_columns(
        &tables::links(&[]),
        "link Utf8View
         direction Utf8View
         offered UInt64
         delivered UInt64
         delivered_bytes UInt64
         dropped_queue UInt64
         dropped_error UInt64
         dropped_outage UInt64
         dropped_script UInt64
         dropped_early UInt64
         dropped_lifetime UInt64
         dropped_retries UInt64
         mean_delay_s Float64?
         max_delay_s Float64
         max_queue UInt32
         duplicates UInt64
         corrupted UInt64
         marked UInt64
         transmissions UInt64
         transmitted_bytes UInt64
         local_retransmissions UInt64
         reports UInt64
         measured_transmitted_bytes UInt64
         measured_delivered_bytes UInt64",
    );
    assert_columns(
        &tables::tasks(&[]),
        "flow Utf8View
         number UInt32
         due_s Float64
         start_s Float64
         end_s Float64?
         bytes UInt64",
    );
    assert_columns(
        &tables::disturbances(&[]),
        "link Utf8View
         direction Utf8View?
         kind Utf8View
         from_s Float64
         to_s Float64",
    );
    assert_columns(
        &tables::segments(&[]),
        "flow Utf8View
         at_s Float64
         place Utf8View
         event Utf8View
         copy UInt64
         seq Int64
         len UInt32
         ack Int64?
         window UInt32
         window_edge Int64?
         flags Utf8View
         sack_1_start Int64?
         sack_1_end Int64?
         sack_2_start Int64?
         sack_2_end Int64?
         sack_3_start Int64?
         sack_3_end Int64?
         sack_4_start Int64?
         sack_4_end Int64?
         ts_value UInt32?
         ts_echo UInt32?
         bytes UInt32
         retransmission Boolean
         unneeded Boolean
         fate Utf8View
         fate_at_s Float64?
         held_s Float64",
    );
}
