//! A table for Python: Arrow columns, passed without copying.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StructArray};
use arrow_schema::Field;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use pyo3_arrow::error::PyArrowResult;
use pyo3_arrow::ffi::{ArrayIterator, to_schema_pycapsule, to_stream_pycapsule};

/// A table in Arrow's format; `polars.DataFrame`, `pandas.DataFrame.from_arrow` and `pyarrow.table`
/// accept it.
#[pyclass(frozen, module = "rtolab._rtolab")]
pub(crate) struct Table(pub RecordBatch);

#[pymethods]
impl Table {
    /// The names of the columns.
    #[getter]
    fn columns(&self) -> Vec<&str> {
        self.0.schema_ref().fields().iter().map(|field| field.name().as_str()).collect()
    }

    fn __len__(&self) -> usize {
        self.0.num_rows()
    }

    fn __repr__(&self) -> String {
        format!("<Table: {} rows, {}>", self.0.num_rows(), self.columns().join(", "))
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyArrowResult<Bound<'py, PyCapsule>> {
        to_schema_pycapsule(py, self.0.schema_ref().as_ref())
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyArrowResult<Bound<'py, PyCapsule>> {
        let row = Field::new_struct("", self.0.schema_ref().fields().clone(), false);
        let rows: ArrayRef = Arc::new(StructArray::from(self.0.clone()));
        let stream = ArrayIterator::new([Ok(rows)], row.into());
        to_stream_pycapsule(py, Box::new(stream), requested_schema)
    }
}
