//! Formulas of the contents of the frames' chunks. They must match `make_data` of `scripts/make-fixtures.py`.

use crate::support::fixtures::make_data;
use crate::support::hex;

/// Returns the bytes of a chunk, or `None` if they are not determined.
pub fn expected_chunk(formula: &str, nbytes: usize, typesize: usize) -> Option<Vec<u8>> {
    if let Some(digits) = formula.strip_prefix("hex:") {
        return Some(hex(digits));
    }
    match formula {
        "uninit" => None,
        "nans" => Some(std::iter::repeat_n(f64::NAN.to_ne_bytes(), nbytes / 8).flatten().collect()),
        _ => Some(make_data(formula, nbytes, typesize)),
    }
}
