//! Tiles of 64 elements in 512-bit vectors, with the byte permutes of VBMI.
//!
//! There is one type for each method of splitting elements: [`PackedTiles`], [`SlottedTiles`] and [`WideTiles`].

mod packed;
mod slotted;
mod tile;
mod transpose;
mod wide;

pub(in crate::filter) use packed::PackedTiles;
pub(in crate::filter) use slotted::SlottedTiles;
pub(in crate::filter) use tile::{Columns, TILE, Tiles, WIDE_TILE_WIDTH, load_table, table};
pub(in crate::filter) use transpose::{columns_to_elements, elements_to_columns};
pub(in crate::filter) use wide::{PartialWideTile, WideTiles};
