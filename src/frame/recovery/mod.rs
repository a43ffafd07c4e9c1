//! Checking all parts of a frame on disk ([`check`]), and saving its whole parts into a new frame ([`repair`]).

pub(crate) mod check;
pub(crate) mod repair;
