//! rtolab: net
