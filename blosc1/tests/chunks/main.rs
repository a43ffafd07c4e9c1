//! Chunks of Blosc 1: written and read by this library alone (`written`), and beside C-Blosc 1.21.6.
//!
//! | module | contents |
//! |---|---|
//! | `arguments` | sizes, item sizes and names for which the reference crashes, hangs or gives a wrong result |
//! | `bit_shuffle` | every number of items and of bytes behind them |
//! | `headers` | headers with changed fields |
//! | `items` | `blosc_getitem`: every range, and ranges outside of the chunk |
//! | `layout` | block sizes and the split flag, against a model of the rules |
//! | `old_files` | chunks of old releases |
//! | `side_by_side` | drawn chunks in both directions, and the codes of compressions and damaged chunks |
//! | `written` | golden vectors, round trips and destinations of any size |

mod arguments;
mod bit_shuffle;
mod headers;
mod items;
mod layout;
mod old_files;
mod side_by_side;
#[path = "../support/mod.rs"]
mod support;
mod written;
