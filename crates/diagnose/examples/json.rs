//! Prints what is found in a capture.

use std::convert::Infallible;
use std::fs::File;

fn main() {
    let path = std::env::args().nth(1).expect("a path");
    let input = rtolab_capture::unpacked(File::open(path).expect("a file")).expect("a file");
    let Ok(document) = rtolab_diagnose::diagnose::<_, Infallible>(input, |_| Ok(()));
    println!("{}", serde_json::to_string(&document).expect("plain data"));
}
