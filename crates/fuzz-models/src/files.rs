//! Arbitrary files.

use std::convert::Infallible;
use std::io::Cursor;

use rtolab_scenario::Scenario;

/// Diagnoses what can be read of a capture.
pub fn capture(file: &[u8]) {
    let Ok(_) = rtolab_diagnose::diagnose::<_, Infallible>(Cursor::new(file.to_vec()), |_| Ok(()));
}

/// Parses a scenario: it is one, or the error names a line of it.
///
/// # Panics
/// If the error names a line that the file does not have.
pub fn scenario(file: &[u8]) {
    let Ok(text) = std::str::from_utf8(file) else { return };
    if let Err(error) = Scenario::parse(text, "fuzz/x.toml", &[]) {
        let lines = text.lines().count() + 1;
        assert!(error.line.is_none_or(|line| (1..=lines).contains(&line)), "{error}");
    }
}
