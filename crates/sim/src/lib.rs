//! rtolab: sim
