//! Tiles of 64 elements in 512-bit vectors, with the byte permutes of VBMI.
//!
//! There is one type for each method of splitting elements: [`PackedTiles`], [`SlottedTiles`] and [`WideTiles`].

mod packed;
mod slotted;
mod tile;
mod transpose;
mod wide;

use crate::tuning::tunable;

tunable! {
    /// Whether elements of up to 15 bytes whose number is no power of two have AVX-512 tiles (docs/tuning.md).
    const HAS_ODD_TILES: bool = true;
    /// Whether elements of more than 16 bytes have AVX-512 tiles (docs/tuning.md).
    const HAS_WIDE_TILES: bool = true;
    /// Whether elements of 2, 4, 8 and 16 bytes have AVX-512 tiles (docs/tuning.md).
    const HAS_EVEN_TILES: bool = true;
}

/// Returns whether elements of `typesize` bytes have tiles.
pub(in crate::filter) fn has_tiles(typesize: usize) -> bool {
    match typesize {
        17.. => HAS_WIDE_TILES.get(),
        _ if typesize.is_power_of_two() => HAS_EVEN_TILES.get(),
        _ => HAS_ODD_TILES.get(),
    }
}

pub(in crate::filter) use packed::PackedTiles;
pub(in crate::filter) use slotted::SlottedTiles;
pub(in crate::filter) use tile::{Columns, TILE, Tiles, WIDE_TILE_WIDTH, load_table};
pub(in crate::filter) use transpose::{columns_to_elements, elements_to_columns};
pub(in crate::filter) use wide::{PartialWideTile, WideTiles};

/// Calls a kernel with the tiles for elements of `$typesize` bytes, the typesize (a constant where there are tiles for it
/// alone) and the other arguments.
macro_rules! with_tiles {
    ($typesize:expr, $kernel:ident($src:expr, $dest:expr)) => {{
        use $crate::filter::columns::avx512::{PackedTiles, SlottedTiles, WideTiles};
        match $typesize {
            1 => $kernel(PackedTiles::<1, 1, 1>, 1, $src, $dest),
            2 => $kernel(PackedTiles::<1, 2, 2>, 2, $src, $dest),
            3 => $kernel(PackedTiles::<3, 1, 3>, 3, $src, $dest),
            4 => $kernel(PackedTiles::<1, 4, 4>, 4, $src, $dest),
            5 => $kernel(PackedTiles::<5, 1, 5>, 5, $src, $dest),
            6 => $kernel(PackedTiles::<3, 2, 6>, 6, $src, $dest),
            7 => $kernel(SlottedTiles::<8>::new(7), 7, $src, $dest),
            8 => $kernel(PackedTiles::<1, 8, 8>, 8, $src, $dest),
            10 => $kernel(PackedTiles::<5, 2, 10>, 10, $src, $dest),
            12 => $kernel(PackedTiles::<3, 4, 12>, 12, $src, $dest),
            16 => $kernel(PackedTiles::<1, 16, 16>, 16, $src, $dest),
            20 => $kernel(PackedTiles::<5, 4, 20>, 20, $src, $dest),
            24 => $kernel(PackedTiles::<3, 8, 24>, 24, $src, $dest),
            typesize @ ..16 => $kernel(SlottedTiles::<16>::new(typesize), typesize, $src, $dest),
            typesize => $kernel(WideTiles::new(typesize), typesize, $src, $dest),
        }
    }};
}
pub(in crate::filter) use with_tiles;
