//! Programs in C, C++ and Python that use the library: compiled against its headers, and with an installed copy.

#[path = "../c_program/mod.rs"]
mod c_program;
mod compiled;
mod installed;
#[path = "../support/mod.rs"]
mod support;
