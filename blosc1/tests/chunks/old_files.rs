//! Chunks that old releases of C-Blosc wrote decode to their data, whole and in part. The fixtures are made by
//! `scripts/make-fixtures.py` (`capi-tests/fixtures/chunks`), and by `scripts/make-blosc1-fixtures.py`
//! (`capi-tests/fixtures/blosc1`: more releases, and each split mode of those that have them).

use crate::support::fixtures::{Record, read_records};
use crate::support::{Library, libraries, ours};
use std::path::Path;

/// The files of both folders by the release that wrote them: a missing one is detected.
const FIXTURES: [(&str, &[&str]); 2] = [
    (
        "chunks",
        &[
            "1.0.6", "1.2.8", "1.3.3", "1.4.4", "1.5.1", "1.6.2", "1.7.0", "1.8.3", "1.9.2", "1.10.0",
            "1.10.6", "1.11.1", "1.11.4",
        ],
    ),
    (
        "blosc1",
        &[
            "1.0.3", "1.2.0", "1.2.8", "1.4.0", "1.4.4", "1.5.0", "1.6.1", "1.7.0", "1.8.1", "1.8.2",
            "1.9.2", "1.10.0", "1.10.6", "1.11.4",
        ],
    ),
];

/// Flags bits 1 and 4: stored plain; not split.
const MARKS: u8 = 0x12;
const DONT_SPLIT: u8 = 0x10;

/// Returns the chunks of all files.
fn all_records() -> Vec<Record> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../capi-tests/fixtures");
    let mut records = Vec::new();
    for (folder, releases) in FIXTURES {
        for release in releases {
            records.extend(read_records(&root.join(folder), &format!("blosc-{release}")));
        }
    }
    records
}

/// Checks that the library reads the chunk.
fn check(library: &Library, record: &Record) {
    let Record { name, typesize, data, chunk } = record;
    for nthreads in [1, 2] {
        let found = library.decompress(chunk, data.len(), nthreads);
        assert!(found.as_ref() == Ok(data), "{name}: {} returns {:?}", library.name, found.err());
    }
    let nitems = data.len() / typesize;
    let per_block =
        (i32::from_le_bytes(chunk[8..12].try_into().expect("4 bytes")) as usize / typesize).max(1);
    let ranges = [
        (0, nitems.min(1)),
        (nitems.saturating_sub(1), nitems.min(1)),
        (nitems / 3, nitems / 3),
        (per_block - 1, 2),
        (per_block, per_block + 1),
        (0, nitems),
    ];
    for (start, wanted) in
        ranges.into_iter().filter(|(start, wanted)| !data.is_empty() && start + wanted <= nitems)
    {
        let expected = &data[start * typesize..(start + wanted) * typesize];
        let found = library.getitem(chunk, start as i32, wanted as i32, expected.len());
        assert!(
            found.as_deref() == Ok(expected),
            "{name}: items {start} + {wanted}: {} returns {:?}",
            library.name,
            found.err()
        );
    }
}

#[test]
fn chunks_of_every_release_are_read() {
    let records = all_records();
    for record in &records {
        check(&ours(), record);
    }
    let count = |word: &str, flags: u8| {
        records.iter().filter(|record| record.name.contains(word) && record.chunk[2] & MARKS == flags).count()
    };
    // Each codec, and each split mode: blocks of lz4 are split in one of them only.
    for word in ["snappy", "zstd", "zlib", "lz4hc", "blosclz"] {
        assert!(count(word, 0) + count(word, DONT_SPLIT) >= 6, "chunks with {word}");
    }
    let lz4 = |mode: &str| count(&format!(" 4 lz4 shuffle blocksize 512 clevel 5 split {mode}"), 0);
    assert_eq!(["FORWARD_COMPAT", "AUTO", "NEVER"].map(|mode| lz4(mode) > 5), [true, false, false]);
    // Bit 4 of the flags exists since 1.11: older writers do not mark blocks that are not split.
    assert!(count(" 17 blosclz shuffle", 0) >= 3);
    assert!(records.len() > 1000, "{} chunks", records.len());
}

/// The same chunks by the reference: a fixture that it cannot read would prove nothing.
#[test]
fn the_reference_reads_the_same_chunks() {
    let Some(([_, reference], _guard)) = libraries() else { return };
    for record in &all_records() {
        check(&reference, record);
    }
}
