//! Tests of middleboxes, in one binary so that they build fast.

mod any_loss;
mod benefit;
mod transfer;
