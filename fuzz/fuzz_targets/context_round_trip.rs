//! Compression with drawn parameters: the chunk fits the destination, decompresses to the source, whole and in part,
//! and is the same with every number of threads.

#![no_main]

use libblosc2_fuzz::support::calls::{
    OwnedContext, Params, compress, decompress, dparams, getitem, vlcompress,
};
use libblosc2_fuzz::support::random::Random;
use libblosc2_fuzz::{CAPACITY, library, split_seed};
use libfuzzer_sys::fuzz_target;

/// The ids of the built-in codecs.
const CODECS: [u8; 5] = [0, 1, 2, 4, 5];
/// The lossless filters: none, shuffle, bitshuffle, delta, bytedelta.
const FILTERS: [u8; 6] = [0, 0, 1, 2, 3, 35];

fn draw_params(random: &mut Random, nbytes: usize) -> Params {
    let mut filters = [0; 6];
    match random.below(3) {
        0 => filters[5] = *random.pick(&FILTERS),
        1 => (filters[4], filters[5]) = (*random.pick(&FILTERS), *random.pick(&FILTERS)),
        _ => filters.fill_with(|| *random.pick(&FILTERS)),
    }
    let typesize = *random.pick(&[1, 2, 3, 4, 8, 8, 12, 16, 17, 255, 256, 300]);
    Params {
        codec: *random.pick(&CODECS),
        codec_meta: 0,
        clevel: random.below(10) as u8,
        use_dict: random.one_in(4),
        typesize,
        nthreads: if random.one_in(8) { 3 } else { 1 },
        blocksize: if random.one_in(2) { 0 } else { 1 + random.below(nbytes + 40) as i32 },
        splitmode: 1 + random.below(4) as i32,
        // Bytedelta needs the item size; shuffle sometimes gets another item size than the chunk's.
        filters_meta: filters.map(|filter| match filter {
            35 => typesize.min(255) as u8,
            1 if random.one_in(4) => random.byte(),
            _ => 0,
        }),
        filters,
    }
}

/// Returns `data` repeated, since inputs of the fuzzer are short. Sources of several large blocks are rare: they take a
/// hundred times as long.
fn repeat_source(data: &[u8], random: &mut Random) -> Vec<u8> {
    if data.is_empty() || random.one_in(3) {
        return data.to_vec();
    }
    let (times, longest) = if random.one_in(30) { (100, CAPACITY) } else { (6, 12_000) };
    let mut src = data.repeat(1 + random.below(times));
    src.truncate(longest);
    src
}

fuzz_target!(|input: &[u8]| {
    let Some((data, mut random)) = split_seed(input) else { return };
    let (library, random) = (library(), &mut random);
    let src = repeat_source(data, random);
    let params = draw_params(random, src.len());
    if OwnedContext::for_compression(library, params.cparams()).is_none() {
        return;
    }
    let room = match random.below(4) {
        0 => random.below(src.len() + 100),
        1 => src.len() + 32,
        _ => 2 * src.len() + 100_000,
    };
    if random.one_in(4) && !src.is_empty() {
        check_variable_length(&params, &src, room, random);
        return;
    }
    let chunk = match compress(library, &params, &src, room) {
        Ok(chunk) => chunk,
        Err(code) => {
            // Codecs without dictionaries reject one; -35 means that the destination has fewer than 32 bytes.
            let refused = params.use_dict && !matches!(params.codec, 1 | 2 | 5);
            assert!(
                code == 0 && room < src.len() + 32 || code == -35 && room < 32 || code == -8 && refused,
                "{code}, {room} bytes for {}: {params:?}",
                src.len()
            );
            return;
        }
    };
    for nthreads in if random.one_in(4) { [1, 3] } else { [1, 1] } {
        let again = compress(library, &Params { nthreads, ..params.clone() }, &src, room);
        assert!(again.as_ref() == Ok(&chunk), "{nthreads} threads make another chunk: {params:?}");
    }
    for nthreads in if random.one_in(8) { [1, 3] } else { [1, 1] } {
        let found = decompress(library, nthreads, &chunk, src.len());
        assert!(found.as_ref() == Ok(&src), "{:?} with {params:?}, {} bytes", found.err(), src.len());
    }
    let unit = usize::from(chunk[3]);
    let nitems = src.len() / unit;
    for _ in 0..3 {
        let start = random.below(nitems + 1);
        let count = random.below(nitems - start + 1);
        let items = getitem(library, 1, &chunk, start as i32, count as i32, count * unit);
        let right = items.as_deref() == Ok(&src[start * unit..(start + count) * unit]);
        assert!(right, "items {start}+{count}: {:?} with {params:?}", items.err());
    }
});

fn check_variable_length(params: &Params, src: &[u8], room: usize, random: &mut Random) {
    let library = library();
    let mut blocks = Vec::new();
    let mut rest = src;
    while !rest.is_empty() && blocks.len() < 60 {
        let (block, after) = rest.split_at(1 + random.below(rest.len().min(5000)));
        blocks.push(block.to_vec());
        rest = after;
    }
    let Ok(chunk) = vlcompress(library, params, &blocks, room) else { return };
    let mut context = OwnedContext::for_decompression(library, dparams(if random.one_in(8) { 3 } else { 1 }));
    let found = context.vldecompress(&chunk, blocks.len());
    assert!(found.as_ref() == Ok(&blocks), "{:?} with {params:?}", found.err());
    let nblock = random.below(blocks.len());
    assert!(context.vldecompress_block(&chunk, nblock as i32).as_ref() == Ok(&blocks[nblock]));
    let whole = blocks.concat();
    assert!(decompress(library, 1, &chunk, whole.len()).as_ref() == Ok(&whole), "{params:?}");
}
