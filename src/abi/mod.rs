//! The public ABI as plain data: `#[repr(C)]` structs, callback types and constants, named as in C.
//! No behaviour lives here; every layer may name these types.
