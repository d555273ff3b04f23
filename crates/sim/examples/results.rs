//! What runs of the shipped scenarios give, a line with a hash each: the same on every machine.
//!
//! usage: results SCENARIO.toml...

use std::fmt::{self, Write as _};
use std::path::Path;

use rtolab_scenario::Scenario;
use rtolab_sim::{Lab, Observe};

/// One of each kind: how losses are found and repaired, what timeouts lead to, what undoes them.
const SENDERS: &[&str] = &["newreno+frto", "sack+eifel+rfc4015", "rack", "linux", "freebsd-14"];
const SEED: u64 = 1;
const OBSERVE: Observe = Observe { trace: true, windows: true };
/// Enough of what is as long as it is lest it be over at once.
const LONGEST: &str = "20 s";

/// FNV-1a of 64 bits, of all that is written to it.
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
        let set = [("duration".to_string(), LONGEST.to_string())];
        // What begins later than that is run as it is.
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
