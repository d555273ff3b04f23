//! Files that are read.

use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::path::{Component, Path, PathBuf};

/// How far from its own folder a scenario may name files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Anywhere: the scenario is the user's own, and so are the files.
    Anywhere,
    /// Only within its folder: somebody else wrote it.
    Within,
}

/// The folder of a scenario, beside which the files that it names are looked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Folder<'a> {
    /// Where it is.
    pub path: &'a Path,
    /// How far from it files may be.
    pub reach: Reach,
}

impl Folder<'_> {
    /// The file of this name, if it may be read.
    pub(crate) fn file(self, name: &str) -> Result<PathBuf, String> {
        let is_within = |part: Component<'_>| matches!(part, Component::Normal(_));
        match self.reach {
            Reach::Within if !Path::new(name).components().all(is_within) => {
                let expected = "a file within the scenario's folder such as \"traces/pings.txt\"";
                Err(format!("found {name:?}; expected {expected}"))
            }
            Reach::Anywhere | Reach::Within => Ok(self.path.join(name)),
        }
    }
}

/// What is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// The line, counted from 1, unless the file as a whole is meant.
    pub line: Option<usize>,
    /// What was found and what would be right.
    pub problem: String,
}

impl Fault {
    /// `problem` is the file as a whole.
    pub(crate) fn whole(problem: String) -> Self {
        Self { line: None, problem }
    }

    /// `problem` is on `line`.
    pub(crate) fn on(line: usize, problem: String) -> Self {
        Self { line: Some(line), problem }
    }
}

/// The text in the file at `path`, which is to hold what is `expected` in at most so many bytes.
pub(crate) fn read(path: &Path, expected: &str, most: u64) -> Result<String, Fault> {
    let mut bytes = Vec::new();
    // What has no end, such as a device, is not read to it.
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
