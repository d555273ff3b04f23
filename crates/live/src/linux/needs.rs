//! Checks of the prerequisites of an emulation.

use std::env;
use std::path::Path;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::error::Error;

/// Checks root, TUN and iproute2.
pub(crate) fn check() -> Result<(), Error> {
    let user = rustix::process::geteuid();
    if !user.is_root() {
        return Err(Error::NotRoot(user.as_raw()));
    }
    if !Path::new("/dev/net/tun").exists() {
        return Err(Error::NoTun);
    }
    if !can_run("ip") {
        return Err(Error::NoIp);
    }
    raise_file_limit();
    Ok(())
}

/// Raises the limit of open files, because simultaneous runs need many. A failure is ignored,
/// because opening a file reports the same error.
pub(crate) fn raise_file_limit() {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
}

/// Checks that there is a command, and that it can be run.
pub(crate) fn check_command(argv: &[String]) -> Result<(), Error> {
    let program = argv.first().ok_or(Error::NoCommand)?;
    match can_run(program) {
        true => Ok(()),
        false => Err(Error::NoProgram(program.clone())),
    }
}

fn can_run(program: &str) -> bool {
    let runs = |path: &Path| {
        path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
    };
    if program.contains('/') {
        return runs(Path::new(program));
    }
    env::var_os("PATH")
        .is_some_and(|path| env::split_paths(&path).any(|folder| runs(&folder.join(program))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_a_path_or_found_in_path() {
        assert!(can_run("sh") && can_run("/bin/sh"));
        assert!(!can_run("no-such-program") && !can_run("/etc/passwd") && !can_run("/bin"));
    }
}
