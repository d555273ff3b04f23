//! The packets of a connection in a capture.

use std::fs::File;
use std::path::Path;

use rtolab_capture::unpacked;
use rtolab_diagnose::{TracedPacket, trace};

const CAPTURE: &str =
    "../../tests/captures/kernel/A_nohold_cubic_frto2_ts1_sack1_dsack1_r0.snd.pcap.gz";

fn traced(limit: usize) -> Vec<TracedPacket> {
    let file = File::open(Path::new(env!("CARGO_MANIFEST_DIR")).join(CAPTURE));
    let input = unpacked(file.expect("a capture")).expect("a capture");
    trace(input, &[1], limit).remove(&1).expect("its packets")
}

#[test]
fn a_trace_has_at_most_as_many_packets_as_its_limit() {
    let frames = |limit| traced(limit).iter().map(|one| one.frame).collect::<Vec<u64>>();
    assert!(frames(0).is_empty());
    assert_eq!(frames(1), [1]);
    assert_eq!(frames(5), [1, 2, 3, 4, 5]);
}
