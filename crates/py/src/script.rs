//! Conversion of a traced run to a packetdrill script with the packets of its first flow at the
//! sender.

use rtolab_capture::{PacketDirection, ScriptPacket, packetdrill};
use rtolab_record::{PacketEvent, Place, Recording};
use rtolab_tcp::Flags;

/// The script. Its comment has the options that run it on the engine.
pub(crate) fn script(recording: &Recording) -> String {
    let rows: Vec<_> = recording
        .segments
        .iter()
        .filter(|row| row.flow == 0 && row.place == Place::Sender)
        .filter(|row| row.segment.flags != Flags::NONE)
        .collect();
    let steps: Vec<ScriptPacket> = rows
        .iter()
        .map(|row| ScriptPacket {
            at: row.at.since(rows[0].at),
            direction: if row.event == PacketEvent::Sent {
                PacketDirection::Outbound
            } else {
                PacketDirection::Inbound
            },
            segment: row.segment,
        })
        .collect();
    packetdrill(&about(recording, &steps), &steps)
}

fn about(recording: &Recording, steps: &[ScriptPacket]) -> Vec<String> {
    let run = &recording.run;
    let options = steps.first().map(|step| step.segment.syn_options()).unwrap_or_default();
    let mss = options.mss.map_or(String::new(), |mss| format!(",mss={mss}"));
    let scale = options.window_scale.map_or(String::new(), |scale| format!(",wscale={scale}"));
    vec![
        format!("The first flow of run {}, seed {}, sender {}.", run.run, run.seed, run.sender),
        format!("--so_flags=sender={}{mss}{scale},push=writes", run.sender),
    ]
}
