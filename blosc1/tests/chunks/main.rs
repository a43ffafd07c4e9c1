//! Chunks of Blosc 1: written and read by this library alone (`written`), and beside C-Blosc 1.21.6 (`side_by_side`).

mod side_by_side;
mod support;
mod written;
