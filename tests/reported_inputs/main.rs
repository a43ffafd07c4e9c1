//! Inputs that were reported against the C libraries and programs that use them, one test each, named after the report. The
//! inputs are put together by hand from the documents of the formats ([`build`]). Each test says which code comes out;
//! sources and destinations lie against inaccessible pages. The reference runs beside this library where it survives.

#[path = "../upstream_defects/alone.rs"]
mod alone;
#[path = "../support/mod.rs"]
mod support;

mod arrays;
mod build;
mod chunks;
mod frames;
mod guarded;
