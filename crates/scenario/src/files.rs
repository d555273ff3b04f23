//! The files that a scenario consists of.

use std::collections::BTreeMap;
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
pub(crate) enum Folder<'a> {
    /// A folder with this path.
    OnDisk(&'a Path, FileAccess),
    /// These texts, by their paths: there is no file system.
    InMemory(&'a BTreeMap<String, String>),
}

impl Folder<'_> {
    /// The file of this name, if it may be read.
    pub(crate) fn file(self, name: &str) -> Result<PathBuf, String> {
        let is_within = |part: Component<'_>| matches!(part, Component::Normal(_));
        match self {
            Self::OnDisk(_, FileAccess::WithinFolder)
                if !Path::new(name).components().all(is_within) =>
            {
                let expected = "a file within the scenario's folder such as \"traces/pings.txt\"";
                Err(format!("found {name:?}; expected {expected}"))
            }
            Self::OnDisk(path, _) => Ok(path.join(name)),
            Self::InMemory(_) => Ok(PathBuf::from(name)),
        }
    }

    /// The text of the file at `path`, at most `most` bytes; `expected` says what it should be.
    pub(crate) fn read(self, path: &Path, expected: &str, most: u64) -> Result<String, Fault> {
        let Self::InMemory(texts) = self else { return read(path, expected, most) };
        path.to_str().and_then(|name| texts.get(name)).cloned().ok_or_else(|| no_file(expected))
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
    read.map_err(|error| match error.kind() {
        ErrorKind::NotFound => no_file(expected),
        ErrorKind::IsADirectory => Fault::whole(format!("found a directory; expected {expected}")),
        _ => Fault::whole(format!("cannot be read: {error}")),
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

fn no_file(expected: &str) -> Fault {
    Fault::whole(format!("found no such file; expected {expected}"))
}
