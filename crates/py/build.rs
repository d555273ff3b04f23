//! Tells the extension the commit from which it is built, for `rtolab --version`.

use std::path::Path;
use std::process::Command;

fn main() {
    // In a source archive unpacked within another repository, the commit would be that
    // repository's.
    let ours = git(&["ls-files", "--error-unmatch", "build.rs"]);
    let commit = ours.and_then(|_| git(&["rev-parse", "--short=12", "HEAD"]));
    println!("cargo:rustc-env=RTOLAB_COMMIT={}", commit.unwrap_or_default());
    println!("cargo:rerun-if-changed=build.rs");
    // Each commit appends to its log.
    let log = git(&["rev-parse", "--git-path", "logs/HEAD"]);
    if let Some(log) = log.filter(|log| Path::new(log).exists()) {
        println!("cargo:rerun-if-changed={log}");
    }
}

/// The output of git, if git and a repository are there.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let printed = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| printed.trim().to_owned())
}
