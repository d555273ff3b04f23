DetectorKind::new("early", "an ACK within a quarter of a round trip", "docs/detector.md", || {
    Box::new(Early)
})
.acting(Family::Single, Response::Full)
