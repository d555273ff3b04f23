//! The files that a scenario consists of.

use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::path::{Component, Path, PathBuf};

/// Which files a scenario may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileAccess {
    /// All files: the scenario is the user's own.
    Anywhere,
    /// Only files in its folder: the scenario is not trusted.
    WithinFolder,
}

/// The folder of a scenario, to which the names of files are relative.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Folder<'a> {
    /// Its path.
    pub path: &'a Path,
    /// Which files the scenario may name.
    pub access: FileAccess,
}

impl Folder<'_> {
    /// The file of this name, if it may be read.
    pub(crate) fn file(self, name: &str) -> Result<PathBuf, String> {
        let is_within = |part: Component<'_>| matches!(part, Component::Normal(_));
        match self.access {
            FileAccess::WithinFolder if !Path::new(name).components().all(is_within) => {
                let expected = "a file within the scenario's folder such as \"traces/pings.txt\"";
                Err(format!("found {name:?}; expected {expected}"))
            }
            FileAccess::Anywhere | FileAccess::WithinFolder => Ok(self.path.join(name)),
        }
    }
}

/// A problem with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// The line, counted from 1; `None` for the file as a whole.
    pub line: Option<usize>,
    /// What was found and what would be right.
    pub problem: String,
}

impl Fault {
    /// A problem with the file as a whole.
    pub(crate) fn whole(problem: String) -> Self {
        Self { line: None, problem }
    }

    /// A problem on a line.
    pub(crate) fn on(line: usize, problem: String) -> Self {
        Self { line: Some(line), problem }
    }
}

/// The text of the file at `path`, at most `most` bytes; `expected` says what it should be.
pub(crate) fn read(path: &Path, expected: &str, most: u64) -> Result<String, Fault> {
    let mut bytes = Vec::new();
    // The limit also ends the reading of a device.
    let read = File::open(path).and_then(|file| file.take(most + 1).read_to_end(&mut bytes));
    read.map_err(|error| {
        Fault::whole(match error.kind() {
            ErrorKind::NotFound => format!("found no such file; expected {expected}"),
            ErrorKind::IsADirectory => format!("found a directory; expected {expected}"),
            _ => format!("cannot be read: {error}"),
        })
    })?;
    if bytes.len() as u64 > most {
        let problem = format!("found more than {} MiB; expected {expected}", most >> 20);
        return Err(Fault::whole(problem));
    }
    String::from_utf8(bytes).map_err(|error| {
        let (before, after) = error.as_bytes().split_at(error.utf8_error().valid_up_to());
        let line = before.split(|byte| *byte == b'\n').count();
        Fault::on(line, format!("found the byte 0x{:02x}; expected UTF-8 text", after[0]))
    })
}
