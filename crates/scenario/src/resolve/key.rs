//! A key of the document, for errors there.

use rtolab_settings::Settings;

use crate::document::{Document, Step, Value};
use crate::{Result, ScenarioError, read};

/// The path of a key.
#[derive(Clone)]
pub(super) struct Key<'a> {
    document: &'a Document,
    path: Vec<Step>,
}

impl<'a> Key<'a> {
    pub(super) fn root(document: &'a Document) -> Self {
        Self { document, path: Vec::new() }
    }

    pub(super) fn key(&self, key: &str) -> Self {
        self.step(Step::Key(key.to_string()))
    }

    pub(super) fn index(&self, index: usize) -> Self {
        self.step(Step::Index(index))
    }

    fn step(&self, step: Step) -> Self {
        let mut path = self.path.clone();
        path.push(step);
        Self { document: self.document, path }
    }

    /// Reads the keys of the table that `settings` have, over their values.
    pub(super) fn read_over(&self, settings: &mut dyn Settings) -> Result<()> {
        read::over(self.document, &self.path, settings)
    }

    /// Is the key in the document?
    pub(super) fn exists(&self) -> bool {
        self.document.node(&self.path).is_some()
    }

    /// The text of the key, with the key.
    pub(super) fn text(&self) -> Option<(&'a str, &Self)> {
        match &self.document.node(&self.path)?.value {
            Value::Text(text) => Some((text, self)),
            _ => None,
        }
    }

    /// The error that the value is not what is `expected`.
    pub(super) fn found(&self, expected: &str) -> ScenarioError {
        let found = self.document.node(&self.path).map(ToString::to_string);
        let found = found.unwrap_or_else(|| "nothing".to_string());
        self.error(format!("found {found}; expected {expected}"))
    }

    /// The error `problem` on a line of the file that this key names.
    pub(super) fn error_in_file(
        &self,
        file: String,
        line: usize,
        problem: String,
    ) -> ScenarioError {
        ScenarioError { file, line: Some(line), set: None, ..self.error(problem) }
    }

    /// The error `problem` at this key.
    pub(super) fn error(&self, problem: impl Into<String>) -> ScenarioError {
        self.document.error(&self.path, problem)
    }
}
