//! Bit shuffle of blocks with any number of items and any number of bytes behind them (blosc1.md 5): each library reads
//! the chunks of the other. Blocks whose number of items is not a multiple of 8 are not shuffled.

use crate::support::{Library, libraries};

const NEVER_SPLIT: i32 = 2;
const BITSHUFFLE: i32 = 2;
/// Shorter sources are stored plain, and forced block sizes are at least as long, in bytes.
const MIN_CODED_LEN: usize = 128;
const STORED_PLAIN: u8 = 0x02;

/// Returns small numbers, which differ from item to item and from byte to byte.
fn content(len: usize, typesize: usize) -> Vec<u8> {
    (0..len).map(|at| ((at / typesize) * (1 + at % typesize) % 11) as u8).collect()
}

/// Compresses `content` with each library, checks that each reads the chunks of both, whole and in part, and returns how
/// many of the chunks are encoded.
fn check(libraries: &[Library; 2], content: &[u8], typesize: usize, blocksize: usize) -> usize {
    let codec = [c"lz4", c"blosclz"][typesize % 2];
    let nitems = content.len() / typesize;
    let items = nitems / 3..nitems;
    let expected_items = &content[items.start * typesize..items.end * typesize];
    let mut encoded = 0;
    for writer in libraries {
        let chunk = writer
            .compress((5, BITSHUFFLE, typesize), content, content.len() + 16, codec, blocksize, 1)
            .expect("a chunk");
        encoded += usize::from(chunk[2] & STORED_PLAIN == 0);
        for reader in libraries {
            let what = || {
                let (len, writer, reader) = (content.len(), writer.name, reader.name);
                format!("{len} bytes, typesize {typesize}, blocksize {blocksize}: {writer} to {reader}")
            };
            assert!(reader.decompress(&chunk, content.len(), 1).as_deref() == Ok(content), "{}", what());
            if nitems > 0 {
                let found =
                    reader.getitem(&chunk, items.start as i32, items.len() as i32, expected_items.len());
                assert!(found.as_deref() == Ok(expected_items), "items, {}", what());
            }
        }
    }
    encoded
}

#[test]
fn every_number_of_items_and_of_bytes_behind_them() {
    let Some((libraries, _guard)) = libraries() else { return };
    for library in &libraries {
        // SAFETY: a setting. Blocks that are split would be longer than these.
        unsafe { (library.blosc_set_splitmode)(NEVER_SPLIT) };
    }
    let (mut tried, mut encoded) = (0, 0);
    for typesize in 1..=40 {
        for nitems in 1..=33 {
            for tail in 0..typesize {
                let last = nitems * typesize + tail;
                // One block, with the bytes behind its items in a second one.
                encoded += check(&libraries, &content(last, typesize), typesize, 0);
                // Three blocks, of which the last one has the bytes behind its items.
                let items_per_block = (nitems + 1).max(MIN_CODED_LEN.div_ceil(typesize));
                let blocksize = items_per_block * typesize;
                encoded += check(&libraries, &content(2 * blocksize + last, typesize), typesize, blocksize);
                tried += 4;
            }
        }
    }
    // Plain chunks are not shuffled: many of the chunks have to be encoded.
    assert!(encoded > tried * 2 / 3, "{encoded} of {tried} chunks are encoded");
}
