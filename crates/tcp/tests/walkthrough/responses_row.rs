response("halfway", "half the window, and slow start", "docs/prototype.md", |c| {
    c.responder = Some(Prototype::new("halfway", Halfway));
})
