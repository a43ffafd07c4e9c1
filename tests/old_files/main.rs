//! Chunks and frames that old releases of C-Blosc and C-Blosc2 wrote.

mod chunks;
mod frames;

use libblosc2_test_support::support;
