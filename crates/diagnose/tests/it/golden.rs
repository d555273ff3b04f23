//! Snapshot of the JSON of all stored captures. Every change of the rules changes it.

use std::convert::Infallible;
use std::fmt::Write;
use std::fs::{File, read_dir};
use std::path::PathBuf;

use rtolab_capture::unpacked;
use rtolab_diagnose::diagnose;

/// FNV-1a. Unlike the hash of the standard library, it never changes.
fn hash(text: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

#[test]
fn the_json_of_the_stored_captures_is_unchanged() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/captures");
    let entries = [folder.join("kernel"), folder].map(|folder| read_dir(folder).expect("captures"));
    let files = entries.into_iter().flatten().map(|entry| entry.expect("a file").path());
    let is_capture = |path: &PathBuf| {
        let name = path.to_string_lossy();
        name.ends_with(".pcap.gz") || name.ends_with(".pcapng.gz")
    };
    let mut files: Vec<PathBuf> = files.filter(is_capture).collect();
    files.sort();
    let mut text = String::new();
    for file in files {
        let input = unpacked(File::open(&file).expect("a capture")).expect("gzip");
        let Ok(document) = diagnose::<_, Infallible>(input, |_| Ok(()));
        let json = serde_json::to_string(&document).expect("JSON");
        let name = file.file_name().expect("a file").to_string_lossy().into_owned();
        let connections = &document.connections;
        let retransmissions: usize = connections.iter().map(|one| one.retransmissions.len()).sum();
        let timeouts: usize = connections.iter().map(|one| one.timeouts.len()).sum();
        let (bytes, hash) = (json.len(), hash(&json));
        writeln!(text, "{name}: {retransmissions} retransmissions, {timeouts} timeouts")
            .expect("a string");
        writeln!(text, "    {bytes} bytes, hash {hash:016x}").expect("a string");
    }
    insta::assert_snapshot!(text);
}
