//! rtolab: record
