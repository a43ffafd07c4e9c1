//! Inputs that were reported against the C libraries and programs that use them, one test each, named after the
//! report. The inputs are built by hand from the format documents ([`build`]). Each test states the expected return
//! code; sources and destinations lie next to inaccessible pages. The reference runs the same inputs if it does not
//! crash.

mod arrays;
mod build;
mod chunks;
mod frames;
mod guarded;
