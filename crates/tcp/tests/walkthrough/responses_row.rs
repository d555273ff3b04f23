responses! {
    /// Half of the previous window, and slow start to the rest.
    Halfway, "half the window, and slow start", "docs/prototype.md", Restored, halfway::halfway;
}
