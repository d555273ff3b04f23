//! Hashes of the results of runs, one line each, which are the same on every machine.
//!
//! usage: results SCENARIO.toml...

use std::fmt::{self, Write as _};
use std::path::Path;

use rtolab_scenario::Scenario;
use rtolab_sim::{Lab, Observe};

/// Senders that cover each kind of policy.
const SENDERS: &[&str] = &["newreno+frto", "sack+eifel+rfc4015", "rack", "linux", "freebsd-14"];
const SEED: u64 = 1;
const OBSERVE: Observe = Observe { trace: true, windows: true };
/// The maximum duration of a run, long enough for several recoveries.
const MAX_DURATION: &str = "20 s";

/// The 64-bit FNV-1a hash of a text.
struct Hash(u64);

impl fmt::Write for Hash {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for file in std::env::args().skip(1) {
        let path = Path::new(&file);
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let set = [("duration".to_string(), MAX_DURATION.to_string())];
        // A scenario whose flows start later keeps its own duration.
        let scenario = Scenario::load(path, &set).or_else(|_| Scenario::load(path, &[]))?;
        for sender in SENDERS {
            let recording = Lab::new(&scenario, Some(sender))?.run(0, SEED, OBSERVE);
            let mut hash = Hash(0xcbf2_9ce4_8422_2325);
            write!(hash, "{recording:?}")?;
            println!("{name} {sender} {:016x}", hash.0);
        }
    }
    Ok(())
}
