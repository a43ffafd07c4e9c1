//! The ABI: layout of the public structs, exported symbols, and the generated headers.

#[path = "../c_program/mod.rs"]
mod c_program;
mod headers;
mod layout;
mod symbols;

use libblosc2_test_support::support;
