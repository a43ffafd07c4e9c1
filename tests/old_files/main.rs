//! Chunks and frames that old releases of C-Blosc and C-Blosc2 wrote.

mod chunks;
mod frames;
#[path = "../support/mod.rs"]
mod support;
