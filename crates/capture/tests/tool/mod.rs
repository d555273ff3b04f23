//! Calls of other analysers, which are the references of tests.

use std::env;
use std::io::Write;
use std::path::Path;
use std::process::Command;

/// The command of a tool; `None` if it is not installed. In continuous integration it must be
/// installed.
pub fn installed(name: &str) -> Option<Command> {
    let path = env::var_os("PATH").unwrap_or_default();
    if env::split_paths(&path).any(|folder| folder.join(name).is_file()) {
        return Some(Command::new(name));
    }
    let missing = format!("{name} is missing: apt-get install tshark tcptrace");
    assert!(env::var_os("CI").is_none_or(|ci| ci != "true"), "{missing}");
    skipped(&missing);
    None
}

/// Prints the reason why something was not tested to the terminal, even if the test passes.
pub fn skipped(why: &str) {
    let _ = writeln!(std::io::stderr(), "skipped: {why}");
}

/// The output of the tool.
pub fn output(command: &mut Command) -> String {
    let output = command.output().expect("it is installed");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {errors}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// tshark's fields of each packet that matches the filter. tshark verifies checksums.
pub fn tshark(file: &Path, filter: &str, fields: &[&str]) -> Option<Vec<Vec<String>>> {
    let mut tshark = installed("tshark")?;
    tshark.arg("-nr").arg(file).args(["-Y", filter, "-T", "fields"]);
    tshark.args(["-E", "separator=|", "-E", "occurrence=a", "-E", "aggregator=,"]);
    for preference in
        ["tcp.check_checksum:TRUE", "ip.check_checksum:TRUE", "tcp.relative_sequence_numbers:FALSE"]
    {
        tshark.args(["-o", preference]);
    }
    for field in fields {
        tshark.args(["-e", field]);
    }
    let rows = output(&mut tshark);
    Some(rows.lines().map(|row| row.split('|').map(String::from).collect()).collect())
}
