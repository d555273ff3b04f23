//! Whatever is written, it is a scenario or an error that names a line of it.

#![no_main]

use libfuzzer_sys::fuzz_target;
use rtolab_scenario::Scenario;

fuzz_target!(|text: &str| {
    if let Err(error) = Scenario::parse(text, "fuzz/x.toml", &[]) {
        let lines = text.lines().count() + 1;
        assert!(error.line.is_none_or(|line| (1..=lines).contains(&line)), "{error}");
    }
});
