//! Decompresses a chunk into its bytes (`chunk.md` 2 and 4).
//!
//! Data flow: parsed header -> [class](crate::chunk::class) of the chunk -> [plan](plan::DecodePlan), which checks the
//! chunk as a whole and finds its blocks -> blocks, each decoded [whole](block) or [in part](part) -> destination or
//! [sink](sink::BlockSink).
//!
//! Every read takes this path: [whole chunks](whole), [ranges of items](items), [blocks for a sink](sink), [blocks of
//! variable length](varlen_reader), the [chunk that a changed one is made from](old_chunk) and [chunks that are only
//! checked](check). Short chunks of one block have a [fast path](fast_path) with the same classification.

mod block;
mod check;
mod chunk_decoder;
mod fast_path;
mod items;
mod lazy;
mod old_chunk;
mod outcome;
mod part;
mod plan;
mod ranges;
mod sink;
mod streams;
mod uncoded;
mod varlen_reader;
mod whole;

#[cfg(test)]
mod lazy_tests;
#[cfg(test)]
mod part_tests;

pub(crate) use check::check_content;
pub(crate) use chunk_decoder::built_in_codec;
pub(crate) use fast_path::try_decompress_fast;
pub(crate) use items::{ItemRange, RangeReader, getitem, getitem_with};
pub(crate) use old_chunk::OldChunk;
pub(crate) use outcome::DecompressOutcome;
pub(crate) use part::{can_decode_prefixes, is_partial_decode_worthwhile, is_worth_caching};
pub(crate) use ranges::ByteRanges;
pub(crate) use sink::{BlockContent, BlockSink, decode_into_sink};
pub(crate) use uncoded::read_uncoded;
pub(crate) use varlen_reader::VarlenReader;
pub(crate) use whole::{decompress, decompress_general};
