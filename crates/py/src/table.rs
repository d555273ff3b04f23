//! Tables for Python, which other libraries read without a copy.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use rtolab_table::arrow::{ArrowArrayStream, ArrowSchema};

/// A table in Arrow's format; `polars.DataFrame`, `pandas.DataFrame.from_arrow` and `pyarrow.table`
/// accept it.
#[pyclass(frozen, module = "rtolab._rtolab")]
pub(crate) struct Table(pub Arc<rtolab_table::Table>);

impl From<rtolab_table::Table> for Table {
    fn from(table: rtolab_table::Table) -> Self {
        Self(Arc::new(table))
    }
}

#[pymethods]
impl Table {
    /// The names of the columns.
    #[getter]
    fn columns(&self) -> Vec<&str> {
        self.0.columns().iter().map(|column| &*column.name).collect()
    }

    fn __len__(&self) -> usize {
        self.0.rows()
    }

    fn __repr__(&self) -> String {
        format!("<Table: {} rows, {}>", self.0.rows(), self.columns().join(", "))
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        PyCapsule::new_with_value(py, ArrowSchema::of_table(&self.0), c"arrow_schema")
    }

    /// The table as a stream of one batch. The interface allows a producer to ignore
    /// `requested_schema` ("best effort").
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let stream = ArrowArrayStream::new(Arc::clone(&self.0));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }
}
