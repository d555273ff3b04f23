//! Prints what is found in a capture.
use std::fs::File;

use rtolab_capture::Reader;
use rtolab_diagnose::Diagnosis;

fn main() {
    let path = std::env::args().nth(1).expect("a path");
    let mut diagnosis = Diagnosis::new();
    for captured in Reader::new(File::open(path).expect("a file")).expect("a capture") {
        match captured {
            Ok(captured) => diagnosis.packet(&captured),
            Err(error) => eprintln!("{error}"),
        }
    }
    let summary = diagnosis.finish();
    let connections: Vec<_> = std::iter::from_fn(|| diagnosis.poll()).collect();
    println!("{}", serde_json::json!({ "summary": summary, "connections": connections }));
}
