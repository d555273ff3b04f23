//! rtolab: scenario
