//! rtolab: live
