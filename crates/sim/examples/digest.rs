//! Scratch.
use std::fmt::{self, Write};
use std::path::Path;

use rtolab_scenario::Scenario;
use rtolab_sim::{Lab, Observe};

struct Hash(u64);
impl Write for Hash {
    fn write_str(&mut self, s: &str) -> fmt::Result {
        for b in s.bytes() {
            self.0 = (self.0 ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        Ok(())
    }
}

const SENDERS: [&str; 23] = [
    "sack",
    "newreno",
    "reno",
    "tahoe",
    "sack+frto",
    "newreno+frto",
    "sack+eifel:rxt",
    "sack+dualrtt",
    "sack+dsack",
    "newreno+eifel",
    "sack+frto+dsack",
    "sack:ns2",
    "linux-2.4",
    "linux-2.2",
    "freebsd-4.1",
    "windows-98",
    "sack+eifel:rfc4015",
    "newreno+frto:enhanced",
    "sack+minrto",
    "ns2-2001",
    "ns2-2006",
    "solaris-2007",
    "newreno+badrexmit",
];

fn main() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let mut names: Vec<_> = std::fs::read_dir(&dir)
        .unwrap()
        .map(|e| e.unwrap().path())
        .filter(|p| p.extension().is_some_and(|e| e == "toml"))
        .collect();
    names.sort();
    let only = std::env::args().nth(1);
    for path in names {
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        if only.as_ref().is_some_and(|o| !name.contains(o.as_str())) {
            continue;
        }
        let bench = name.starts_with("bench");
        let set: &[(String, String)] = &match name.as_str() {
            "bench-a" => vec![("duration".into(), "15 s".into())],
            "bench-b" => vec![("duration".into(), "3 s".into())],
            "bench-c" => vec![("duration".into(), "1 s".into())],
            "bench-d" => vec![("duration".into(), "0.4 s".into())],
            "bench-red" => vec![("duration".into(), "5 s".into())],
            "minrto2007-a" | "minrto2007-b" | "dualrtt2004-parking-lot" => {
                vec![("duration".into(), "10 s".into())]
            }
            _ => vec![],
        };
        let scenario = match Scenario::load(&path, set) {
            Ok(s) => s,
            Err(e) => {
                println!("{name} {e}");
                continue;
            }
        };
        for sender in SENDERS {
            if bench
                && !["sack", "newreno", "linux", "linux-2.4", "sack:ns2", "sack+frto"]
                    .contains(&sender)
            {
                continue;
            }
            let Ok(lab) = Lab::new(&scenario, Some(sender)) else { continue };
            let mut h = Hash(0xcbf2_9ce4_8422_2325);
            let trace = !bench;
            let r = lab.run(0, 7, Observe { trace, windows: true });
            write!(h, "{r:?}").unwrap();
            let r = lab.run(0, 3, Observe::default());
            write!(h, "{r:?}").unwrap();
            let lab = lab.without_pipes();
            if !bench {
                let r = lab.run(0, 3, Observe::default());
                write!(h, "{r:?}").unwrap();
                let judges: Vec<String> = vec!["eifel".into(), "frto".into(), "dsack".into()];
                if let Ok(lab) =
                    lab.judged(&scenario, &judges, &["newreno".to_owned(), "reno".to_owned()])
                {
                    if set.is_empty() && name.contains("outage") {
                        let r = lab.run(0, 3, Observe::default());
                        write!(h, "{r:?}").unwrap();
                    }
                }
            }
            println!("{name} {sender} {:016x}", h.0);
        }
    }
}
