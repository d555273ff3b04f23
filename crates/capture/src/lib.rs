//! rtolab: capture
