//! Pings between two namespaces over a link in real time. The tests need root, /dev/net/tun,
//! iproute2 and ping. If a prerequisite is missing, they are skipped, or fail if `CI` is `true`.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::sleep;
use std::time::{Duration as Span, Instant as Wall};

use rtolab_link::Direction;
use rtolab_live::{Emulator, EndReason, Error, PacketLogging, Report};
use rtolab_scenario::Scenario;

/// The lock of a test: a process runs one emulation at a time.
fn lock() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The missing prerequisite, if any.
fn missing() -> Option<&'static str> {
    let works = |program: &str, argument| Command::new(program).arg(argument).output().is_ok();
    let root = Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n");
    match () {
        () if !root => Some("root"),
        () if !Path::new("/dev/net/tun").exists() => Some("/dev/net/tun"),
        () if !works("ip", "-V") => Some("ip (apt install iproute2)"),
        () if !works("ping", "-V") => Some("ping (apt install iputils-ping)"),
        () => None,
    }
}

/// Must the tests be skipped?
fn skip() -> bool {
    let Some(what) = missing() else { return false };
    assert!(std::env::var("CI").as_deref() != Ok("true"), "this test needs {what}");
    eprintln!("skipped: this test needs {what}");
    true
}

/// A link of this many milliseconds each way, with further keys.
fn link(delay: u64, keys: &str) -> Scenario {
    let text = format!(
        r#"
        title = "A link"
        duration = "60 s"
        [[link]]
        name = "test"
        between = ["here", "there"]
        delay = "{delay} ms"
        {keys}
        [[flow]]
        name = "flow"
        from = "here"
        to = "there"
        bytes = "20 kB"
        "#
    );
    Scenario::parse(&text, "test.toml", &[]).unwrap()
}

fn emulate(
    scenario: &Scenario,
    command: &[&str],
    interrupted: &mut dyn FnMut() -> bool,
) -> Result<Report, Error> {
    let command: Vec<String> = command.iter().map(ToString::to_string).collect();
    let emulation = Emulator { scenario, seed: 1, judges: &[] };
    emulation.command(&command, PacketLogging::Off, interrupted).map(|ran| ran.report)
}

/// Runs a shell line. Returns the report, and the output of the line.
fn emulate_shell(scenario: &Scenario, line: &str) -> (Report, String) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("out");
    let line = format!("exec > {} 2>&1; {line}", file.display());
    let report = emulate(scenario, &["sh", "-c", &line], &mut || false).unwrap();
    (report, fs::read_to_string(file).unwrap())
}

/// The round-trip times that ping printed, in milliseconds, in the order of the replies.
fn round_trips(output: &str) -> Vec<f64> {
    let times = output.lines().filter_map(|line| line.split_once("time=")?.1.split_once(" ms"));
    times.map(|(time, _)| time.parse().unwrap()).collect()
}

fn namespaces() -> Vec<String> {
    let output = Command::new("ip").args(["netns", "list"]).output().unwrap();
    let ours = format!("rtolab-{}-", std::process::id());
    let listed = String::from_utf8(output.stdout).unwrap();
    listed.lines().filter(|line| line.starts_with(&ours)).map(String::from).collect()
}

#[test]
fn pings_take_the_delay_of_the_link() {
    let _lock = lock();
    if skip() {
        return;
    }
    let (report, output) = emulate_shell(&link(100, ""), "ping -c 5 -i 0.3 {there}");
    let EndReason::Exited(status) = report.ended else { panic!("{report:?}") };
    assert!(status.success(), "{output}");
    let mut times = round_trips(&output);
    assert_eq!(times.len(), 5, "{output}");
    times.sort_by(f64::total_cmp);
    assert!(times[0] >= 200.0, "{output}");
    assert!(times[2] < 230.0, "{output}");
    for direction in Direction::BOTH {
        let stats = report.stats(0, direction);
        assert_eq!((stats.offered, stats.delivered, stats.bytes), (5, 5, 5 * 84));
    }
    assert_eq!((report.lateness.packets, report.refused), (10, 0));
    assert!(report.lateness.p50 <= report.lateness.p99);
    assert!(report.lateness.p99 <= report.lateness.max);
    assert_eq!(namespaces(), [""; 0]);
}

#[test]
fn a_stall_delays_pings_and_loses_none() {
    let _lock = lock();
    if skip() {
        return;
    }
    let stall = "[link.forward]\nstalls.scripted = [{ at = '1 s', for = '1 s' }]";
    let (report, output) = emulate_shell(&link(10, stall), "ping -c 15 -i 0.2 $RTOLAB_PEER");
    let times = round_trips(&output);
    assert_eq!(times.len(), 15, "{output}");
    assert_eq!(report.stats(0, Direction::Forward).drops.total(), 0);
    let longest = times.iter().copied().fold(0.0, f64::max);
    // Pings are 200 ms apart, so the first one in the stall waits for at least 800 ms.
    assert!((800.0..1100.0).contains(&longest), "{output}");
    let held = times.iter().filter(|time| **time > 150.0).count();
    // Five pings are due in the stall; on a busy machine `ping` sends some of them later.
    assert!((1..=5).contains(&held), "{output}");
}

#[test]
fn a_full_queue_drops_pings() {
    let _lock = lock();
    if skip() {
        return;
    }
    let slow = "[link.forward]\nrate = '672 bit/s'\nqueue = '1 packet'";
    let (report, output) = emulate_shell(&link(1, slow), "ping -c 5 -i 0.2 -W 3 {peer}");
    assert_eq!(round_trips(&output).len(), 2, "{output}");
    let stats = report.stats(0, Direction::Forward);
    assert_eq!((stats.offered, stats.delivered, stats.drops.queue), (5, 2, 3));
}

#[test]
fn a_server_may_run_at_the_other_host() {
    let _lock = lock();
    if skip() {
        return;
    }
    // The peer pings back from its own namespace.
    let (report, output) =
        emulate_shell(&link(5, ""), "ip netns exec $RTOLAB_PEER_NETNS ping -c 2 -i 0.2 {here}");
    assert_eq!(round_trips(&output).len(), 2, "{output}");
    assert_eq!(report.stats(0, Direction::Backward).delivered, 2);
}

#[test]
fn an_interruption_ends_the_command_and_removes_all_namespaces() {
    let _lock = lock();
    if skip() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pid");
    let line = format!("echo $$ > {}; exec ping -q -i 0.2 {{peer}}", file.display());
    // One second after its shell began, even on a busy machine.
    let mut begun = None;
    let mut interrupted =
        || file.exists() && begun.get_or_insert_with(Wall::now).elapsed().as_millis() > 1000;
    let report = emulate(&link(1, ""), &["sh", "-c", &line], &mut interrupted).unwrap();
    assert_eq!(report.ended, EndReason::Interrupted);
    assert!(report.stats(0, Direction::Forward).delivered > 0);
    assert!(begun.unwrap().elapsed().as_secs() < 300);
    assert_eq!(namespaces(), [""; 0]);
    let pid = fs::read_to_string(file).unwrap();
    assert!(!Path::new("/proc").join(pid.trim()).exists());
}

#[test]
fn background_processes_of_the_command_are_killed() {
    let _lock = lock();
    if skip() {
        return;
    }
    let line = "sleep 1000 & echo $!; ip netns exec $RTOLAB_PEER_NETNS sleep 1000 & echo $!";
    let (_, output) = emulate_shell(&link(1, ""), line);
    let pids: Vec<&str> = output.split_whitespace().collect();
    assert_eq!(pids.len(), 2, "{output}");
    assert_eq!(namespaces(), [""; 0]);
    // A killed process may run on for a moment, and become a zombie.
    let runs = |pid: &str| {
        let status = fs::read_to_string(Path::new("/proc").join(pid).join("stat"));
        status.is_ok_and(|status| !status.contains(") Z "))
    };
    let deadline = Wall::now() + Span::from_secs(60);
    for pid in pids {
        while runs(pid) {
            assert!(Wall::now() < deadline, "{pid} still runs");
            sleep(Span::from_millis(20));
        }
    }
}

#[test]
fn the_report_has_the_exit_status_of_the_command() {
    let _lock = lock();
    if skip() {
        return;
    }
    let report = emulate(&link(1, ""), &["sh", "-c", "exit 7"], &mut || false).unwrap();
    let EndReason::Exited(status) = report.ended else { panic!("{report:?}") };
    assert_eq!(status.code(), Some(7));
}

#[test]
fn a_missing_command_or_program_is_an_error() {
    let _lock = lock();
    if skip() {
        return;
    }
    let no_program = emulate(&link(1, ""), &["no-such-program"], &mut || false).unwrap_err();
    assert!(matches!(&no_program, Error::NoProgram(name) if name == "no-such-program"));
    assert!(no_program.to_string().contains("`no-such-program`"), "{no_program}");
    assert!(matches!(emulate(&link(1, ""), &[], &mut || false), Err(Error::NoCommand)));
}

#[test]
fn namespaces_of_a_killed_process_are_removed() {
    let _lock = lock();
    if skip() {
        return;
    }
    let mut gone = Command::new("true").spawn().unwrap();
    gone.wait().unwrap();
    let name = format!("rtolab-{}-here", gone.id());
    assert!(Command::new("ip").args(["netns", "add", &name]).status().unwrap().success());
    emulate(&link(1, ""), &["true"], &mut || false).unwrap();
    assert!(!Path::new("/run/netns").join(&name).exists());
}

#[test]
fn an_existing_namespace_is_an_error_and_remains() {
    let _lock = lock();
    if skip() {
        return;
    }
    // The second of the two cannot be made: the first must be removed.
    let name = format!("rtolab-{}-there", std::process::id());
    assert!(Command::new("ip").args(["netns", "add", &name]).status().unwrap().success());
    let error = emulate(&link(1, ""), &["true"], &mut || false).unwrap_err();
    let left = namespaces();
    assert!(Command::new("ip").args(["netns", "delete", &name]).status().unwrap().success());
    assert!(error.to_string().contains("File exists"), "{error}");
    assert_eq!(left, [name]);
}
