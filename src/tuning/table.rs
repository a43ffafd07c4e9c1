//! The table of all tunables.

use Operation::{Both, Compress, Decompress};
use Steps::{Log2, Scale, Switch};

/// The values that a tunable is measured with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Steps {
    /// Half and double the value.
    Scale,
    /// The value is a binary logarithm: one less and one more.
    Log2,
    /// The value is `true` if the mechanism is used; it is measured without.
    Switch,
}

/// The calls that a tunable affects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Calls that compress.
    Compress,
    /// Calls that decompress.
    Decompress,
    /// Both.
    Both,
}

/// A tunable.
pub struct Row {
    /// The path of the constant in the crate.
    pub name: &'static str,
    /// The calls that it affects.
    pub operation: Operation,
    /// The codecs that it is measured with.
    pub codecs: &'static [&'static str],
    /// The values that it is measured with.
    pub steps: Steps,
}

const fn row(name: &'static str, operation: Operation, codecs: &'static [&'static str], steps: Steps) -> Row {
    Row { name, operation, codecs, steps }
}

/// All tunables, in the order of their names.
#[rustfmt::skip]
pub const ROWS: &[Row] = &[
    row("codec::blosclz::encode::NEAR_POSITIONS", Compress, &["blosclz"], Scale),
    row("codec::blosclz::encode::PREDICTED_WORDS", Compress, &["blosclz"], Scale),
    row("codec::incompressible::MAX_CHI_SQUARE", Compress, &["zlib"], Scale),
    row("codec::incompressible::MIN_DISTINCT_PERCENT", Compress, &["zlib"], Scale),
    row("codec::incompressible::REPEATED_WORD_DIVISOR", Compress, &["zlib"], Scale),
    row("codec::incompressible::SAMPLE_COUNT", Compress, &["zlib"], Scale),
    row("codec::incompressible::UNIFORM_PART_LEN", Compress, &["zlib"], Scale),
    row("codec::lz4::decode::COPIES_SMALL_BLOCKS", Decompress, &["lz4", "lz4hc"], Switch),
    row("codec::lz4::encode::fast::HAS_ADJACENT_LOOP", Compress, &["lz4"], Switch),
    row("codec::lz4::encode::fast::MAX_SHORT_BLOCK", Compress, &["lz4"], Scale),
    row("codec::lz4::encode::hash_chains::HAS_RECENT_DISTANCES", Compress, &["lz4hc"], Switch),
    row("codec::lz4::encode::hash_chains::HAS_RUN_ENDS", Compress, &["lz4hc"], Switch),
    row("codec::lz4::encode::hash_chains::HEADS_PER_BYTE_LOG2", Compress, &["lz4hc"], Log2),
    row("codec::lz4::encode::hash_chains::MAX_THOROUGH_LITERALS", Compress, &["lz4hc"], Scale),
    row("codec::matchless::MAX_DEVIATIONS", Compress, &["zstd"], Scale),
    row("codec::matchless::MAX_DEVIATION_PERCENT", Compress, &["zstd"], Scale),
    row("codec::matchless::MAX_DRIFT_PERCENT", Compress, &["zstd"], Scale),
    row("codec::matchless::MAX_REPEATED_RATIO", Compress, &["zstd"], Scale),
    row("codec::matchless::MIN_PLANE_LEN", Compress, &["zstd"], Scale),
    row("codec::matchless::PIECE_LEN", Compress, &["zstd"], Scale),
    row("codec::matchless::REPEATED_DIVISOR", Compress, &["zstd"], Scale),
    row("codec::matchless::SAMPLE_LEN", Compress, &["zstd"], Scale),
    row("codec::match_copy::HAS_LARGE_COPY", Decompress, &["blosclz", "lz4", "zlib"], Switch),
    row("codec::match_copy::generic::LARGE_MATCH_THRESHOLD", Decompress, &["blosclz", "lz4", "zlib"], Scale),
    row("codec::zlib::MIN_SAVING_DIVISOR", Compress, &["zlib"], Scale),
    row("codec::zlib::TESTS_FOR_NOISE", Compress, &["zlib"], Switch),
    row("codec::zlib::deflate::HAS_POSITION_ROWS", Compress, &["zlib"], Switch),
    row("codec::zlib::deflate::HAS_RUNS", Compress, &["zlib"], Switch),
    row("codec::zlib::deflate::MIN_CANDIDATES_FOR_RUNS", Compress, &["zlib"], Scale),
    row("codec::zlib::deflate::period::HAS_PERIOD", Compress, &["zlib"], Switch),
    row("codec::zlib::deflate::quick::MAX_STEP", Compress, &["zlib"], Scale),
    row("codec::zlib::deflate::quick::SKIP_AFTER_BYTES", Compress, &["zlib"], Scale),
    row("codec::zlib::deflate::search::FIRST_RUNS", Compress, &["zlib"], Scale),
    row("codec::zlib::deflate::search::HAS_LONG_WORDS", Compress, &["zlib"], Switch),
    row("codec::zlib::deflate::search::HEADS_PER_BYTE_LOG2", Compress, &["zlib"], Log2),
    row("codec::zlib::deflate::search::MIN_CANDIDATES_FOR_LONG_WORDS", Compress, &["zlib"], Scale),
    row("codec::zlib::deflate::search::STEPS_PER_POSITION", Compress, &["zlib"], Scale),
    row("codec::zstd::FINDS_MATCHLESS_PLANES", Compress, &["zstd"], Switch),
    row("codec::zstd::MAX_FAST_EXCESS_PERCENT", Compress, &["zstd"], Scale),
    row("codec::zstd::MAX_OPTIMAL_EXCESS_PERCENT", Compress, &["zstd"], Scale),
    row("codec::zstd::MIN_SLOW_CLEVEL", Compress, &["zstd"], Scale),
    row("filter::columns::avx512::HAS_EVEN_TILES", Both, &["lz4"], Switch),
    row("filter::columns::avx512::HAS_ODD_TILES", Both, &["lz4"], Switch),
    row("filter::columns::avx512::HAS_WIDE_TILES", Both, &["lz4"], Switch),
    row("filter::shuffle::HAS_PLANE_KERNEL", Decompress, &["lz4"], Switch),
    row("pipeline::decompress::fast_path::HAS_FAST_PATH", Decompress, &["lz4"], Switch),
];
