//! Transfers between guest kernels with a virtual clock. The tests need a kernel of
//! `rtolab kernel build`, and are skipped without one.
#![cfg(target_os = "linux")]

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::Duration;

use rtolab_live::{EmulationResult, Emulator, EndReason, Error, GuestKernel, VirtualHosts};
use rtolab_record::Run;
use rtolab_scenario::Scenario;

/// The kernel with the latest version in the cache folder.
fn kernel() -> Option<GuestKernel> {
    kernels().pop().map(|(kernel, _)| kernel)
}

/// The kernels in the cache folder, with their versions.
fn kernels() -> Vec<(GuestKernel, Version)> {
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).or_else(home);
    let found = cache.and_then(|cache| fs::read_dir(cache.join("rtolab/kernels")).ok());
    let folders = found.into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    let mut kernels: Vec<_> = folders
        .filter_map(|folder| {
            let version = version(&fs::read_to_string(folder.join("kernel.json")).ok()?)?;
            Some((GuestKernel::new(folder, "a kernel".to_string()), version))
        })
        .collect();
    kernels.sort_by_key(|(_, version)| *version);
    if kernels.is_empty() {
        eprintln!("skipped: this test needs a kernel (rtolab kernel build)");
    }
    kernels
}

/// Major and minor version.
type Version = (u32, u32);

/// The version in the description of a kernel.
fn version(description: &str) -> Option<Version> {
    let (_, release) = description.split_once("\"release\": \"")?;
    let mut numbers = release.split(|sign: char| !sign.is_ascii_digit());
    let mut next = || numbers.next()?.parse().ok();
    Some((next()?, next()?))
}

/// A link of 1 Mbit/s and 50 ms each way, with further keys.
fn link(keys: &str) -> Scenario {
    let text = format!(
        r#"
        title = "A link"
        duration = "60 s"
        [[link]]
        name = "test"
        between = ["here", "there"]
        rate = "1 Mbit/s"
        delay = "50 ms"
        {keys}
        [[flow]]
        name = "flow"
        from = "here"
        to = "there"
        bytes = "1 MB"
        "#
    );
    Scenario::parse(&text, "test.toml", &[]).unwrap()
}

fn emulate(scenario: &Scenario, kernel: &GuestKernel) -> EmulationResult {
    let emulation = Emulator { scenario, seed: 1, judges: &[] };
    let run = Run { run: 0, seed: 1, sender: "linux".into() };
    emulation
        .run_virtual(&VirtualHosts::guests(kernel), run, &mut || false)
        .unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_transfer_takes_the_transmission_time_of_its_bytes() {
    let Some(kernel) = kernel() else { return };
    let ran = emulate(&link(""), &kernel);
    assert_eq!(ran.report.ended, EndReason::FlowsCompleted);
    let row = &ran.recording.connections[0];
    assert_eq!((row.bytes, row.retransmissions), (1_000_000, 0));
    // 691 segments of 1,500 B and a shorter one, and the delay of the last ACK.
    let took = row.end.unwrap().since(row.start).secs_f64();
    assert!((8.2..8.8).contains(&took), "{took} s");
}

#[test]
fn two_runs_are_identical() {
    let Some(kernel) = kernel() else { return };
    let scenario = link("stalls = { scripted = [{ at = \"2 s\", for = \"3 s\" }] }\nloss = 0.02");
    let [one, two] = [(); 2].map(|()| emulate(&scenario, &kernel));
    assert!(one.recording.timeouts.len() > 1, "a stall and losses without timeouts");
    assert_eq!(format!("{:?}", one.recording), format!("{:?}", two.recording));
}

#[test]
fn packets_delivered_at_once_are_processed_one_by_one() {
    let Some(kernel) = kernel() else { return };
    // The packets after one that ARQ retransmits are delivered together with it.
    let arq = "loss = 0.1\narq = [{ retries = 3, timeout = \"600 ms\", order = \"kept\" }]";
    let ran = emulate(&link(arq), &kernel);
    let row = &ran.recording.connections[0];
    assert_eq!(row.retransmissions, 0);
    assert!(2 * row.acks >= row.segments, "{} ACKs of {} segments", row.acks, row.segments);
    let latest = ran.report.lateness.max;
    assert!(latest < rtolab_time::Duration::from_micros(200), "{latest} late");
}

#[test]
fn guests_exchange_packets_by_shared_memory_if_their_kernel_can() {
    for (kernel, version) in kernels() {
        let ran = emulate(&link(""), &kernel);
        for host in ran.report.hosts {
            let exchange = host.exchange.unwrap();
            let name = kernel.folder.display();
            assert_eq!(exchange.shared_memory, version >= (6, 11), "{name}");
            assert_eq!(exchange.shared_memory, exchange.messages == 0, "{name}: {exchange:?}");
        }
    }
}

/// The error of a run with a shell script instead of a kernel.
fn error_of(script: &str) -> Error {
    let folder = tempfile::tempdir().unwrap();
    let kernel = GuestKernel {
        time_limit: Duration::from_millis(500),
        ..GuestKernel::new(folder.path().to_path_buf(), "no kernel".to_string())
    };
    fs::create_dir(kernel.root()).unwrap();
    fs::write(kernel.image(), format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(kernel.image(), Permissions::from_mode(0o755)).unwrap();
    let scenario = link("");
    let emulation = Emulator { scenario: &scenario, seed: 1, judges: &[] };
    let run = Run { run: 0, seed: 1, sender: "linux".into() };
    emulation.run_virtual(&VirtualHosts::guests(&kernel), run, &mut || false).unwrap_err()
}

#[test]
fn the_error_of_a_kernel_that_exits_has_its_last_lines() {
    let error =
        error_of("echo first; echo 'Kernel panic - not syncing: No init found' >&2; exit 7");
    assert!(matches!(error, Error::GuestEnded { .. }), "{error}");
    let said = error.to_string();
    assert!(said.contains("`here`") && said.contains("exit status: 7"), "{said}");
    assert!(said.ends_with("first\n  Kernel panic - not syncing: No init found"), "{said}");
}

#[test]
fn a_kernel_without_time_travel_is_an_error() {
    let error = error_of("echo booting; exec sleep 60");
    assert!(matches!(error, Error::GuestWithoutTimeTravel { .. }), "{error}");
    assert!(error.to_string().contains("CONFIG_UML_TIME_TRAVEL_SUPPORT"), "{error}");
}

#[test]
fn the_error_names_a_folder_without_a_kernel() {
    let scenario = link("");
    let emulation = Emulator { scenario: &scenario, seed: 1, judges: &[] };
    let kernel = GuestKernel::new("/nowhere".into(), "no kernel".to_string());
    let run = Run { run: 0, seed: 1, sender: "linux".into() };
    let error = emulation
        .run_virtual(&VirtualHosts::guests(&kernel), run, &mut || false)
        .unwrap_err()
        .to_string();
    assert!(error.contains("/nowhere") && error.contains("rtolab kernel build"), "{error}");
}

#[test]
fn an_interrupt_ends_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let kernel = GuestKernel::new(folder.path().to_path_buf(), "no kernel".to_string());
    fs::create_dir(kernel.root()).unwrap();
    fs::write(kernel.image(), "#!/bin/sh\nexec sleep 60\n").unwrap();
    fs::set_permissions(kernel.image(), Permissions::from_mode(0o755)).unwrap();
    let scenario = link("");
    let emulation = Emulator { scenario: &scenario, seed: 1, judges: &[] };
    let run = Run { run: 0, seed: 1, sender: "linux".into() };
    assert!(emulation.run_virtual(&VirtualHosts::guests(&kernel), run, &mut || true).is_err());
}
