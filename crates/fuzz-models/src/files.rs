//! Arbitrary files.

use std::convert::Infallible;
use std::io::Cursor;

use rtolab_scenario::Scenario;

/// Diagnoses a capture, or the part before its damage.
pub fn capture(file: &[u8]) {
    let Ok(_) = rtolab_diagnose::diagnose::<_, Infallible>(Cursor::new(file.to_vec()), |_| Ok(()));
}

/// Parses a scenario. The result must be a scenario, or an error about a line of the file.
///
/// # Panics
/// If the file does not have the line that the error names.
pub fn scenario(file: &[u8]) {
    let Ok(text) = std::str::from_utf8(file) else { return };
    if let Err(error) = Scenario::parse(text, "fuzz/x.toml", &[]) {
        let lines = text.lines().count() + 1;
        assert!(error.line.is_none_or(|line| (1..=lines).contains(&line)), "{error}");
    }
}
