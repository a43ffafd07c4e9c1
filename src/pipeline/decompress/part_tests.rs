//! Compares parts of blocks with whole blocks, and tests chunks that copy encoded blocks from another chunk.

use super::plan::DecodePlan;
use super::{ByteRanges, OldChunk, decompress};
use crate::abi::{BLOSC_BLOSCLZ, BLOSC_LZ4, BLOSC_LZ4HC, BLOSC_ZSTD};
use crate::chunk::{BlockGeometry, ChunkHeader, ParsedChunk};
use crate::err;
use crate::error::Result;
use crate::pipeline::compress::{BlockProvider, ContentSource, compress};
use crate::pipeline::params::{CompressParams, DecompressParams};
use crate::pipeline::scratch;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Smooth numbers with noise in their low bytes, a run, and incompressible bytes.
fn make_data(len: usize) -> Vec<u8> {
    let mut state = 1u32;
    (0..len as u32 / 4)
        .flat_map(|i| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let value = match i / 2000 % 4 {
                0 => i * 3 + (state >> 29),
                1 => 7,
                2 => state,
                _ => i / 9 % 500,
            };
            value.to_le_bytes()
        })
        .collect()
}

fn compress_chunk(params: &CompressParams, source: ContentSource<'_>) -> Vec<u8> {
    let mut chunk = vec![0; source.len() + 4096];
    let header = compress(params, source, &mut chunk).unwrap();
    chunk.truncate(header.cbytes as usize);
    chunk
}

fn decompress_whole_chunk(chunk: &[u8]) -> Vec<u8> {
    let header = ChunkHeader::parse(chunk).unwrap();
    let mut dest = vec![0xa5; header.nbytes()];
    let mut parsed = ChunkHeader::default();
    let chunk = ParsedChunk::parse(&mut parsed, chunk).unwrap();
    decompress(&DecompressParams::default(), &chunk, dest[..].as_mut().into()).unwrap();
    dest
}

/// Reads the bytes `range` of the content, which are in one block, by prefixes of its streams. Returns whether that was
/// possible.
fn read_prefixes(chunk: &[u8], range: Range<usize>, dest: &mut [u8]) -> Result<bool> {
    let mut header = ChunkHeader::default();
    let chunk = ParsedChunk::parse(&mut header, chunk)?;
    DecodePlan::open(&chunk, &DecompressParams::default(), |plan| {
        let nblock = range.start / BlockGeometry::of(chunk.header()).blocksize();
        let block = plan.block_range(nblock);
        let inside = range.start - block.start..range.end - block.start;
        scratch::with_scratch(|scratch| {
            plan.decode_prefixes(plan.part_decoding(), nblock, inside, &mut scratch.block_scratch, dest)
        })
    })
}

/// Reads the bytes `ranges` of block `nblock`, all in `wanted`, into `dest`, a whole block. Returns whether that was
/// worthwhile.
fn read_ranges(
    chunk: &[u8],
    nblock: usize,
    wanted: &Range<usize>,
    ranges: &dyn ByteRanges,
    dest: &mut [u8],
) -> bool {
    let mut header = ChunkHeader::default();
    let chunk = ParsedChunk::parse(&mut header, chunk).unwrap();
    DecodePlan::open(&chunk, &DecompressParams::default(), |plan| {
        scratch::with_scratch(|scratch| {
            plan.decode_ranges(plan.part_decoding(), nblock, wanted, ranges, &mut scratch.block_scratch, dest)
        })
    })
    .unwrap()
}

#[test]
fn partial_decoding_gives_the_same_bytes_as_whole_blocks() {
    let data = make_data(100_000);
    let (mut read, mut left) = (0, 0);
    for compcode in [BLOSC_BLOSCLZ, BLOSC_LZ4, BLOSC_LZ4HC, BLOSC_ZSTD] {
        for (typesize, splitmode) in [(1, 1), (4, 1), (4, 2), (8, 1), (8, 2), (12, 1), (3, 2)] {
            for filters in [[0; 6], [0, 0, 0, 0, 0, 1], [0, 0, 0, 0, 0, 2]] {
                let blocksize = 6000 / typesize * typesize;
                let params = CompressParams {
                    compcode,
                    typesize,
                    splitmode,
                    blocksize,
                    filters,
                    ..CompressParams::default()
                };
                let chunk = compress_chunk(&params, ContentSource::Buffer(&data));
                let blocksize = blocksize as usize;
                for n in 0..400 {
                    let start = n * 7919 % (data.len() - 1);
                    let room = data.len().min((start / blocksize + 1) * blocksize) - start;
                    let len = 1 + n * 31 % room;
                    let mut dest = vec![0; len];
                    let range = start..start + len;
                    if !read_prefixes(&chunk, range.clone(), &mut dest).unwrap() {
                        left += 1;
                        continue;
                    }
                    read += 1;
                    assert!(
                        dest == data[range],
                        "{compcode} {typesize} {splitmode} {filters:?} {start}+{len}"
                    );
                }
            }
        }
    }
    assert!(read > 4000 && left > 4000, "{read} read, {left} left");
}

/// Truncated items need no decoding step: only other filters prevent decoding a part.
#[test]
fn precision_truncation_does_not_prevent_partial_decoding() {
    // Values that are not zero after truncation.
    let data: Vec<u8> = (0..4000u32).flat_map(|i| (0x4000_0000 + i * 9001).to_le_bytes()).collect();
    for filters in [[4, 0, 0, 0, 0, 4], [4, 0, 0, 0, 0, 1], [0, 0, 0, 0, 36, 0]] {
        let params = CompressParams {
            compcode: BLOSC_LZ4,
            typesize: 4,
            filters,
            filters_meta: filters.map(|id| if id == 1 { 0 } else { 10 }),
            blocksize: 8000,
            ..CompressParams::default()
        };
        let chunk = compress_chunk(&params, ContentSource::Buffer(&data));
        let mut dest = [0; 400];
        assert!(read_prefixes(&chunk, 8400..8800, &mut dest).unwrap(), "{filters:?}");
        assert!(dest == decompress_whole_chunk(&chunk)[8400..8800], "{filters:?}");
    }
}

/// Ranges at arbitrary positions.
struct RangeList(Vec<Range<usize>>);

impl ByteRanges for RangeList {
    fn count_and_nbytes(&self) -> (usize, usize) {
        (self.0.len(), self.0.iter().map(Range::len).sum())
    }

    fn for_each(&self, then: &mut dyn FnMut(Range<usize>)) {
        self.0.iter().cloned().for_each(then);
    }
}

#[test]
fn gathered_ranges_have_the_same_bytes_as_whole_blocks() {
    let data = make_data(200_000);
    let (mut read, mut left) = (0, 0);
    for (n, compcode) in [BLOSC_BLOSCLZ, BLOSC_LZ4, BLOSC_LZ4HC, BLOSC_ZSTD].into_iter().enumerate() {
        for (typesize, splitmode) in
            [(1, 1), (2, 1), (3, 2), (4, 1), (4, 2), (7, 1), (8, 1), (8, 2), (16, 2), (17, 1), (18, 2)]
        {
            for filters in [[0; 6], [0, 0, 0, 0, 0, 1], [0, 0, 0, 0, 0, 2], [0, 0, 0, 0, 3, 1]] {
                let blocksize = 30_000 / typesize * typesize;
                let params = CompressParams {
                    compcode,
                    typesize,
                    splitmode,
                    blocksize,
                    filters,
                    ..CompressParams::default()
                };
                let chunk = compress_chunk(&params, ContentSource::Buffer(&data));
                let nblocks = data.len().div_ceil(blocksize as usize);
                for nblock in 0..nblocks {
                    let start = nblock * blocksize as usize;
                    let block = &data[start..data.len().min(start + blocksize as usize)];
                    // Single bytes and short ranges, in the whole block or at its front, and long ranges.
                    let within = if nblock % 2 == 0 { block.len() } else { block.len() / 2 };
                    let mut runs: Vec<Range<usize>> = (0..5 + nblock % 40)
                        .map(|k| {
                            let at = (k * 7919 + nblock * 331 + n) % within;
                            at..(at + 1 + k % 30).min(within)
                        })
                        .collect();
                    if nblock % 3 == 0 {
                        let long = 80 * typesize as usize;
                        runs = vec![100..100 + long, block.len() - long - 1..block.len() - 1];
                    }
                    let wanted = runs.iter().map(|run| run.start).min().unwrap()
                        ..runs.iter().map(|run| run.end).max().unwrap();
                    let mut dest = vec![0xa5; block.len()];
                    let runs = RangeList(runs);
                    if !read_ranges(&chunk, nblock, &wanted, &runs, &mut dest) {
                        left += 1;
                        continue;
                    }
                    read += 1;
                    for run in runs.0 {
                        let name = (compcode, typesize, splitmode, filters, nblock);
                        assert!(dest[run.clone()] == block[run.clone()], "{name:?} {run:?}");
                    }
                }
            }
        }
    }
    assert!(read > 150 && left > 150, "{read} read, {left} left");
}

#[test]
fn expensive_or_invalid_ranges_are_not_gathered() {
    let data = make_data(48_000);
    let filters = [0, 0, 0, 0, 0, 1];
    let params = CompressParams {
        compcode: BLOSC_LZ4,
        typesize: 4,
        blocksize: 16_000,
        filters,
        ..CompressParams::default()
    };
    let chunk = compress_chunk(&params, ContentSource::Buffer(&data));
    let read = |nblock, count, range_len, len| {
        let ranges = (0..count).map(|n| 4 * n..4 * n + range_len).collect();
        read_ranges(&chunk, nblock, &(0..16_000.min(len)), &RangeList(ranges), &mut vec![0; len])
    };
    assert!(read(0, 1, 4, 16_000));
    assert!(!read(0, 1, 16_000, 16_000));
    assert!(!read(0, 4000, 1, 16_000));
    // A block number out of range, and a block of another length.
    assert!(!read(3, 1, 4, 16_000));
    assert!(!read(0, 1, 4, 12_000));
}

/// Changes some blocks and copies the others from another chunk.
struct PartlyChangedBlocks<'a> {
    data: &'a [u8],
    previous: &'a OldChunk<'a>,
    is_changed: fn(usize) -> bool,
    reused_count: AtomicUsize,
}

impl BlockProvider for PartlyChangedBlocks<'_> {
    fn nbytes(&self) -> usize {
        self.data.len()
    }

    fn write_block_into(&self, nblock: usize, range: Range<usize>, dest: &mut [u8]) -> Result<()> {
        if (self.is_changed)(nblock) {
            dest.copy_from_slice(self.data.get(range).ok_or_else(|| err!(Failure, "beyond the data"))?);
            return Ok(());
        }
        self.previous.decode(nblock, dest)
    }

    fn reusable_encoded_block(&self, nblock: usize, header: &ChunkHeader) -> Option<&[u8]> {
        let encoded =
            self.previous.reusable_encoded_block(nblock, header).filter(|_| !(self.is_changed)(nblock))?;
        self.reused_count.fetch_add(1, Ordering::Relaxed);
        Some(encoded)
    }
}

#[test]
fn encoded_blocks_are_reused_only_with_equal_parameters() {
    let old = make_data(100_000);
    let new: Vec<u8> = old.iter().map(|byte| byte ^ 0x55).collect();
    let alike =
        CompressParams { compcode: BLOSC_LZ4, typesize: 4, blocksize: 8000, ..CompressParams::default() };
    let zstd = CompressParams { compcode: BLOSC_ZSTD, ..alike };
    let unsplit = CompressParams { splitmode: 2, ..alike };
    let wide = CompressParams { typesize: 8, ..alike };
    let plain = CompressParams { clevel: 0, ..alike };
    let delta = CompressParams { filters: [0, 0, 0, 0, 3, 1], ..alike };
    let changed = |nblock| nblock % 3 == 1;
    for (before, is_alike) in
        [(alike, true), (zstd, false), (unsplit, false), (wide, false), (plain, false), (delta, false)]
    {
        let chunk = compress_chunk(&before, ContentSource::Buffer(&old));
        let expected: Vec<u8> =
            (0..old.len()).map(|at| if changed(at / 8000) { new[at] } else { old[at] }).collect();
        let mut made = Vec::new();
        for nthreads in [1, 3] {
            let params = CompressParams { nthreads, ..alike };
            let read = DecompressParams::default();
            let mut header = ChunkHeader::default();
            let old_chunk = ParsedChunk::parse(&mut header, &chunk).unwrap();
            let (chunk, _) = OldChunk::open(&read, &old_chunk, |previous| {
                let mixed = PartlyChangedBlocks {
                    data: &new,
                    previous,
                    is_changed: changed,
                    reused_count: AtomicUsize::new(0),
                };
                let made = compress_chunk(&params, ContentSource::Provided(&mixed));
                Ok((made, mixed.reused_count.load(Ordering::Relaxed)))
            })
            .unwrap();
            let (chunk, taken) = chunk;
            let name = (before.compcode, before.typesize);
            assert_eq!(taken, if is_alike { 9 } else { 0 }, "{name:?}");
            made.push(chunk);
        }
        assert!(decompress_whole_chunk(&made[0]) == expected);
        assert!(made[0] == made[1], "bytes depend on the number of threads");
        // Equal to the chunk that is compressed from the whole content.
        assert!(made[0] == compress_chunk(&alike, ContentSource::Buffer(&expected)));
    }
}

/// A stream that ends before the requested bytes is an error; other bytes are never returned.
#[test]
fn partial_decoding_of_a_truncated_stream_is_an_error() {
    // No runs, and no raw streams: both would be decoded correctly from a truncated chunk.
    let data: Vec<u8> = (0..20_000u32).flat_map(|i| (i / 5 * 3).to_le_bytes()).collect();
    let params = CompressParams {
        compcode: BLOSC_LZ4,
        typesize: 4,
        blocksize: 80_000,
        splitmode: crate::abi::BLOSC_NEVER_SPLIT,
        ..CompressParams::default()
    };
    let mut chunk = compress_chunk(&params, ContentSource::Buffer(&data));
    let last = data.len() - 4..data.len();
    let mut dest = [0; 4];
    let read = |chunk: &[u8], dest: &mut [u8]| read_prefixes(chunk, last.clone(), dest);
    assert!(read(&chunk, &mut dest).unwrap());
    assert_eq!(dest, data[last.clone()]);
    // The first sequence of the only stream becomes its last one: all of its bytes are literals.
    let stream = 32 + 4 + 4;
    let len = i32::from_le_bytes(chunk[stream - 4..stream].try_into().unwrap());
    for shorter in [1, 2, 10, len / 2, len - 1] {
        chunk[stream - 4..stream].copy_from_slice(&shorter.to_le_bytes());
        assert!(read(&chunk, &mut dest).is_err(), "{shorter} of {len} bytes");
    }
}
