policy("early", Question::Spurious, "an ACK within a quarter of a round trip", |c| {
    c.detectors.add("early", || Box::new(Early));
})
