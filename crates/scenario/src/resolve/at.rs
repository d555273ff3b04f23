//! A place in the document, to say what is wrong there.

use crate::Error;
use crate::document::{Document, Step, Value};

/// The way to a key.
#[derive(Clone)]
pub(super) struct At<'a> {
    document: &'a Document,
    path: Vec<Step>,
}

impl<'a> At<'a> {
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

    /// Where places are.
    pub(super) fn document(&self) -> &'a Document {
        self.document
    }

    /// Does anything stand here?
    pub(super) fn is_written(&self) -> bool {
        self.document.node(&self.path).is_some()
    }

    /// The text that stands here, with its place.
    pub(super) fn text(&self) -> Option<(&'a str, &Self)> {
        match &self.document.node(&self.path)?.value {
            Value::Text(text) => Some((text, self)),
            _ => None,
        }
    }

    /// What stands here is not what is `expected`.
    pub(super) fn found(&self, expected: &str) -> Error {
        let found = self.document.node(&self.path).map(ToString::to_string);
        let found = found.unwrap_or_else(|| "nothing".to_string());
        self.wrong(format!("found {found}; expected {expected}"))
    }

    /// `problem` is on a line of another file, which this key names.
    pub(super) fn elsewhere(&self, file: String, line: usize, problem: String) -> Error {
        Error { file, line: Some(line), set: None, ..self.wrong(problem) }
    }

    /// `problem` is here.
    pub(super) fn wrong(&self, problem: impl Into<String>) -> Error {
        self.document.error(&self.path, problem)
    }
}
