//! Damaged and hostile input: random changes of valid chunks, frames and arrays, and inputs that were reported. Each
//! call returns an error or a consistent result, and accesses nothing outside its buffers.
#![cfg_attr(not(unix), allow(unused_imports))] // some tests are for Unix only

mod arrays;
mod chunks;
mod frames;
mod reported;
mod verify_repair;

use libblosc2_test_support::support;
