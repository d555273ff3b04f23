//! Tables whose keys are declared as settings.

use std::borrow::Cow;
use std::marker::PhantomData;

use rtolab_settings::Settings;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny};

use crate::document::Document;
use crate::{Result, read, schema};

/// A table of the settings `T`.
#[derive(Debug)]
pub(crate) struct Table<T>(PhantomData<T>);

impl<T: Settings> Table<T> {
    /// Reads the table `key` over the values of `settings`.
    #[allow(clippy::unused_self, reason = "the field says which settings these are")]
    pub(crate) fn read(&self, (document, key): (&Document, &str), settings: &mut T) -> Result<()> {
        read::settings(document, key, settings)
    }
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<'de, T> Deserialize<'de> for Table<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_ignored_any(IgnoredAny).map(|_| Self::default())
    }
}

impl<T: Settings + Default> JsonSchema for Table<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        std::any::type_name::<T>().into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schema::table(T::about(), &mut T::default())
    }
}
