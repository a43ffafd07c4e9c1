//! Damaged and hostile input: random changes of valid chunks, frames and arrays, and inputs that were reported. Each
//! call returns an error or a consistent result, and accesses nothing outside its buffers.

mod arrays;
mod chunks;
mod frames;
mod reported;
#[path = "../support/mod.rs"]
mod support;
mod verify_repair;
