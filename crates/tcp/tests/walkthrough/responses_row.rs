responses! {
    /// Half of the window of before, and slow start to the rest.
    Halfway, "half the window, and slow start", "docs/prototype.md", Restored, halfway::halfway;
}
