//! The columns that say to which run a row belongs.

use rtolab_table::TableBuilder;

use crate::{Recording, Run};

/// A table of the `rows` of each recording. Its first columns are those of the run.
pub(crate) fn of_recordings<'a, R>(
    recordings: &'a [Recording],
    rows: impl Fn(&'a Recording) -> &'a [R],
) -> TableBuilder<'a, R, Run> {
    let rows = recordings.iter().map(|recording| (&recording.run, rows(recording)));
    of_runs(TableBuilder::new(rows), |run| run)
}

/// Adds the columns of the run to which each row's owner belongs.
pub(crate) fn of_runs<'a, R, Owner>(
    table: TableBuilder<'a, R, Owner>,
    run: fn(&'a Owner) -> &'a Run,
) -> TableBuilder<'a, R, Owner> {
    table
        .owner("run", move |owner| run(owner).run)
        .owner("seed", move |owner| run(owner).seed)
        .owner("sender", move |owner| &*run(owner).sender)
}
