//! The ABI: layout of the public structs, exported symbols, and the generated headers.

#[path = "../c_program/mod.rs"]
mod c_program;
mod headers;
mod layout;
// The reader of ELF files is for 64-bit little-endian ones.
#[cfg(all(target_pointer_width = "64", target_endian = "little", target_env = "gnu"))]
mod symbols;

use libblosc2_test_support::support;
