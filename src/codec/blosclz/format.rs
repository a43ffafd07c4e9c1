//! The limits of the tokens of a BloscLZ stream (`codecs.md` 3).

/// The largest number of literals of one token.
pub(super) const MAX_LITERALS: usize = 32;
/// The length code of a match whose length continues in extension bytes.
pub(super) const EXTENDED_LENGTH_CODE: usize = 7;
/// Distances above this have the far form: 13 set bits, then `distance - 1 - MAX_NEAR_DISTANCE` in two bytes.
pub(super) const MAX_NEAR_DISTANCE: usize = 8191;
