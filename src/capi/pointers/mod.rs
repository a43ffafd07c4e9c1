//! The types of the pointer parameters of the exported functions. Each type has the layout of the C type in its angle
//! brackets, and stands for a rule of the module [`capi`](super) about that parameter.
//!
//! A value proves its rule: its fields are private and no function makes values, so that only a C caller can, which
//! must follow the rules. A value cannot outlive its call either: the lifetime `'call` of a parameter is any lifetime
//! for the body of the function. That is why most methods are safe, and why the references that they return are valid.
//!
//! The length of a buffer is another parameter of the function. Both carry the same *role*, for example [`Input`]: all
//! buffers of a role in one signature have the length that its only [`Size`] of this role says, or, for [`ArrayDims`], its
//! only [`Handle`] of an array. A method with a role takes a [`Len`] of the same role, so the body of a function cannot
//! combine a buffer with another length.
//!
//! The types are `pub` because exported functions have them in their signatures; code outside of `capi` has no use for
//! them, nor for the traits of their methods.
#![allow(private_bounds, reason = "the methods are for this module, and so are their traits")]

mod buffers;
mod handles;
mod raw;
mod results;
mod structs;

pub(super) use buffers::{
    ArrayDims, Blocks, CArray, ChunkStart, ChunkStays, ChunkToStore, Chunks, Coords, DestBuffer, Dims, Input,
    InputAndOutput, Len, MetalayerList, Names, Output, Size, SliceBounds, SourceBuffer, UnsizedChunk,
    source_slice, typed_slice,
};
pub(super) use handles::{CObjectOwner, Handle, Taken};
pub(super) use raw::Pointer;
pub(super) use results::{Out, OutArray, OutDims};
pub(super) use structs::{CStruct, CText, Parameters, Variable, c_str, optional_c_str, storage_parts};
