//! The header of a stream and its tokens, shared by encoder and decoder.

/// The length of the header in bytes: the number of dimensions, and two extents of 32 bits.
pub(super) const HEADER_LEN: usize = 9;
/// The number of dimensions, the first byte of a stream.
pub(super) const NDIM: u8 = 2;

/// Token: the bytes of the cell follow.
pub(super) const TOKEN_LITERAL: u8 = 0x00;
/// Token: one byte follows, the value of all bytes of the cell.
pub(super) const TOKEN_CONSTANT: u8 = 0x40;
/// Token: the offset of a whole cell follows.
pub(super) const TOKEN_MATCHED_CELL: u8 = 0xc0;

/// In cells of 4: two offsets follow, of rows 0 and j, and of the two others. The first token; j is in bits 3 and 4.
pub(super) const TOKEN_TWO_PAIRS_4: u8 = 0x20;
/// In cells of 4: the offset of two rows follows, then the two others. The first token; the rows are in bits 3 to 6.
pub(super) const TOKEN_PAIR_4: u8 = 0x80;
/// In cells of 4: the offset of three rows follows, then the other one. The first token; the rows are in bits 3 and
/// 4.
pub(super) const TOKEN_TRIPLE_4: u8 = 0xe0;

/// In cells of 8: the offset of two rows follows, then the six others. The first row is in the lower bits.
pub(super) const TOKEN_PAIR_8: u8 = 0x88;
/// In cells of 8: the offset of three rows follows, then the five others. The first row is in the lower bits.
pub(super) const TOKEN_TRIPLE_8: u8 = 0xa8;

/// The rows of the pairs of a cell of 4, with their tokens, in the order in which the encoder tries them.
pub(super) const ROW_PAIRS_4: [(u8, [usize; 2]); 6] =
    [(0x88, [0, 1]), (0x90, [0, 2]), (0x98, [0, 3]), (0xb0, [1, 2]), (0xb8, [1, 3]), (0x80, [2, 3])];

/// The rows of the triples of a cell of 4, with their tokens, in the order in which the encoder tries them.
pub(super) const ROW_TRIPLES_4: [(u8, [usize; 3]); 4] =
    [(0xe8, [0, 1, 2]), (0xf0, [0, 1, 3]), (0xf8, [0, 2, 3]), (0xe0, [1, 2, 3])];
