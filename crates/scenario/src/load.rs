//! Reads scenarios: from files and texts, with keys set on top.

use std::collections::BTreeMap;
use std::path::Path;

use crate::document::Document;
use crate::files::{self, Fault, FileAccess, Folder};
use crate::{
    Prototypes, Result, Scenario, ScenarioError, limits, overridden, raw, read, resolve, schema,
    set,
};

impl Scenario {
    /// Reads the scenario at `path` with the dotted keys of `set` set to their values. The files
    /// that it names are relative to its folder.
    ///
    /// # Errors
    /// The first error found: in a file that cannot be read or is no scenario, or in a key.
    pub fn load(path: &Path, set: &[(String, String)]) -> Result<Self> {
        Self::load_with(path, set, (FileAccess::Anywhere, &Prototypes::default()))
    }

    /// [`Scenario::load`] for a scenario with limited `access` to files, and with prototypes.
    ///
    /// # Errors
    /// As [`Scenario::load`], and if it names a file that it may not access, which is not opened.
    pub fn load_with(
        path: &Path,
        set: &[(String, String)],
        (access, prototypes): (FileAccess, &Prototypes),
    ) -> Result<Self> {
        let file = path.display().to_string();
        let text = files::read(path, "a scenario (TOML)", limits::TEXT).map_err(
            |Fault { line, problem }| ScenarioError {
                file: file.clone(),
                line,
                set: None,
                key: String::new(),
                problem,
            },
        )?;
        let folder = Folder::OnDisk(path.parent().unwrap_or(Path::new("")), access);
        Self::read(Document::parse(&text, &file)?, (folder, prototypes), set)
    }

    /// Reads the scenario `text`. `file` is its name in errors, and the files that it names are
    /// relative to its folder.
    ///
    /// # Errors
    /// The first error found.
    pub fn parse(text: &str, file: &str, set: &[(String, String)]) -> Result<Self> {
        Self::parse_with(text, file, set, &Prototypes::default())
    }

    /// [`Scenario::parse`] for a scenario that may name `prototypes`.
    ///
    /// # Errors
    /// The first error found.
    pub fn parse_with(
        text: &str,
        file: &str,
        set: &[(String, String)],
        prototypes: &Prototypes,
    ) -> Result<Self> {
        let folder = Path::new(file).parent().unwrap_or(Path::new(""));
        let folder = Folder::OnDisk(folder, FileAccess::Anywhere);
        Self::read(Document::parse(text, file)?, (folder, prototypes), set)
    }

    /// [`Scenario::parse`] for a text that may name only the `files`, given by their paths relative
    /// to the scenario. There need not be a file system.
    ///
    /// # Errors
    /// The first error found.
    pub fn parse_among(
        (text, file): (&str, &str),
        set: &[(String, String)],
        files: &BTreeMap<String, String>,
    ) -> Result<Self> {
        let document = Document::parse(text, file)?;
        Self::read(document, (Folder::InMemory(files), &Prototypes::default()), set)
    }

    /// Reads a scenario in `folder`, which may name `prototypes`.
    fn read(
        mut document: Document,
        (folder, prototypes): (Folder<'_>, &Prototypes),
        set: &[(String, String)],
    ) -> Result<Self> {
        set::apply(&mut document, set, &mut raw::Scenario::default())?;
        let mut raw = raw::Scenario::default();
        read::read(&document, folder, &mut raw)?;
        resolve::scenario(&raw, &document, (folder, prototypes))
    }

    /// Checks that a flow uses `senders`, if there are any, and that no key of `[tcp]` is `set`
    /// that the profiles of all of them override.
    ///
    /// # Errors
    /// Every flow has a sender of its own, or the first such key. An error that is in no key has no
    /// file.
    pub fn check_senders(&self, senders: &[String], set: &[(String, String)]) -> Result<()> {
        overridden::check_use(&self.flows, senders)?;
        overridden::check(&overridden::in_set(set), &self.flows, senders)
    }

    /// The JSON Schema (draft 7) of a scenario's TOML.
    pub fn schema() -> serde_json::Value {
        schema::of("Scenario", &mut raw::Scenario::default())
    }
}
