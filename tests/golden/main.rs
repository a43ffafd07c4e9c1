//! Golden tests: bytes, counters and return codes that the format documents state, from our library and from the
//! reference (which verifies them).

mod arrays;
mod chunks;
mod excluded_features;
mod frames;
mod large;

use libblosc2_test_support::support;
