//! Tiles of 64 elements in 512-bit vectors, with the byte permutes of VBMI.
//!
//! There is one type for each method of splitting elements: [`Packed`], [`Slotted`] and [`Wide`].

mod packed;
mod slotted;
mod tile;
mod transpose;
mod wide;

pub(in crate::filter) use packed::Packed;
pub(in crate::filter) use slotted::Slotted;
pub(in crate::filter) use tile::{Columns, TILE, Tiles, WIDE, load, table};
pub(in crate::filter) use transpose::{join, split};
pub(in crate::filter) use wide::{Wide, WideFew};
