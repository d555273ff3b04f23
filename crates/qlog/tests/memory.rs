//! A test that the memory of a diagnosis does not grow with the length of a log, only with its
//! findings.

use std::convert::Infallible;
use std::io::{self, Read};

use rtolab_qlog::diagnose;

#[path = "../../sim/tests/it/common/peak_memory.rs"]
mod peak_memory;
use peak_memory::with_peak_memory;

/// A log that is generated while it is read: packets that are acknowledged 40 packets later. Of
/// every 100 packets one is declared lost and acknowledged later, if `has_losses`.
struct Generated {
    next: u64,
    packets: u64,
    has_losses: bool,
    text: Vec<u8>,
}

impl Generated {
    fn packet(&mut self) {
        let number = self.next;
        self.next += 1;
        let mut event = |name: &str, header: u64, rest: &str| {
            self.text.extend_from_slice(
                format!(
                    "\u{1e}{{\"time\":{number},\"name\":\"{name}\",\"data\":{{\"header\":\
                     {{\"packet_type\":\"1RTT\",\"packet_number\":{header}}}{rest}}}}}\n"
                )
                .as_bytes(),
            );
        };
        event("packet_sent", number, r#","frames":[{"frame_type":"stream","stream_id":0}]"#);
        let Some(acked) = number.checked_sub(40) else { return };
        if self.has_losses && acked % 100 == 0 {
            event("packet_lost", acked, r#","trigger":"reordering_threshold""#);
        }
        let frames = format!(r#","frames":[{{"frame_type":"ack","acked_ranges":[[0,{acked}]]}}]"#);
        event("packet_received", number, &frames);
    }
}

impl Read for Generated {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.text.len() < buffer.len() && self.next < self.packets {
            self.packet();
        }
        let length = self.text.len().min(buffer.len());
        buffer[..length].copy_from_slice(&self.text[..length]);
        self.text.drain(..length);
        Ok(length)
    }
}

/// The peak memory of a diagnosis in bytes, and the losses.
fn diagnosed(packets: u64, has_losses: bool) -> (isize, usize) {
    let header = b"\x1e{\"qlog_version\":\"0.3\",\"trace\":{}}\n".to_vec();
    let log = Generated { next: 0, packets, has_losses, text: header };
    let (Ok(document), peak) = with_peak_memory(|| diagnose::<_, Infallible>(log, |_| Ok(())));
    assert_eq!((document.error, document.summary.malformed), (None, 0));
    assert_eq!(document.summary.packets, 2 * packets - 40);
    (peak, document.connections[0].losses.len())
}

#[test]
fn memory_grows_with_findings_and_not_with_the_log() {
    let (short, _) = diagnosed(2_000, false);
    let (long, losses) = diagnosed(20_000, false);
    assert_eq!(losses, 0);
    assert!(long <= short + 1000, "{short} and {long} B");
    let (with_losses, losses) = diagnosed(20_000, true);
    assert_eq!(losses, 200);
    let each = (with_losses - long) as usize / losses;
    assert!(each < 1000, "{each} B a loss");
}
