//! The ABI: layout of the public structs, exported symbols, and the generated headers.

#[path = "../c_program/mod.rs"]
mod c_program;
mod headers;
mod layout;
#[path = "../support/mod.rs"]
mod support;
mod symbols;
