//! Chunks that old releases of C-Blosc and C-Blosc2 wrote (`capi-tests/fixtures/chunks`, made by
//! `scripts/make-fixtures.py`) decode to their data, whole and in part. The expected bytes are not stored, but
//! computed by formulas.

use crate::support::calls::{OwnedContext, dparams};
use crate::support::fixtures::{Record, read_records};
use crate::support::library::Library;

/// The files, by the release that wrote them. Listed, so that a missing one is detected.
const RELEASES: [&str; 27] = [
    "blosc-1.0.6",
    "blosc-1.2.8",
    "blosc-1.3.3",
    "blosc-1.4.4",
    "blosc-1.5.1",
    "blosc-1.6.2",
    "blosc-1.7.0",
    "blosc-1.8.3",
    "blosc-1.9.2",
    "blosc-1.10.0",
    "blosc-1.10.6",
    "blosc-1.11.1",
    "blosc-1.11.4",
    "blosc2-0.1.5",
    "blosc2-0.1.7",
    "blosc2-0.1.8",
    "blosc2-0.1.10",
    "blosc2-0.2.0",
    "blosc2-0.3.2",
    "blosc2-0.4.1",
    "blosc2-0.5.2",
    "blosc2-0.6.1",
    "blosc2-2.0.0",
    "blosc2-2.2.9",
    "blosc2-2.5.1",
    "blosc2-2.7.1",
    "blosc2-3.3.4",
];

/// `BLOSC2_ERROR_CODEC_SUPPORT`
const CODEC_SUPPORT: i32 = -7;

fn all_records() -> Vec<Record> {
    let directory = crate::support::root().join("capi-tests/fixtures/chunks");
    RELEASES.iter().flat_map(|release| read_records(&directory, release)).collect()
}

/// Whether the reference is known to decode the record incorrectly, which the library under test must not: see the
/// predicates.
fn is_known_defect(library: &Library, record: &Record) -> bool {
    library.is_reference() && (record.is_unsplit_unmarked() || record.has_bitshuffled_tail())
}

/// Decodes the whole chunk; a failure names the record.
fn decode(library: &Library, record: &Record, nthreads: i16) -> Result<Vec<u8>, i32> {
    let mut context = OwnedContext::for_decompression(library, dparams(nthreads));
    let mut data = vec![0xEE; record.data.len() + 8];
    let rc = context.decompress(&record.chunk, &mut data[..record.data.len()]);
    assert_eq!(data[record.data.len()..], [0xEE; 8], "{}: written past the end", record.name);
    data.truncate(usize::try_from(rc).map_err(|_| rc)?);
    Ok(data)
}

#[test]
fn every_release_is_read() {
    let library = Library::ours();
    let mut read = 0;
    for record in all_records() {
        for nthreads in [1, 2] {
            match decode(library, &record, nthreads) {
                Err(code) if record.is_snappy() && !cfg!(feature = "snappy") => {
                    assert_eq!(code, CODEC_SUPPORT, "{}", record.name)
                }
                _ if is_known_defect(library, &record) => {}
                Err(code) => panic!("{}: {code}", record.name),
                Ok(data) => {
                    assert!(data == record.data, "{}: wrong bytes", record.name);
                    read += 1;
                }
            }
        }
    }
    assert!(read > 1000, "only {read} chunks were read");
}

#[test]
fn parts_are_read() {
    let library = Library::ours();
    for record in all_records().iter().filter(|record| cfg!(feature = "snappy") || !record.is_snappy()) {
        if is_known_defect(library, record) {
            continue;
        }
        let typesize = record.typesize;
        let nitems = record.data.len() / typesize;
        let mut context = OwnedContext::for_decompression(library, dparams(1));
        let per_block = (record.blocksize() / typesize).max(1);
        let ranges = [
            (0, 1),
            (nitems.saturating_sub(1), 1),
            (nitems / 3, nitems / 3),
            (per_block - 1, 2),
            (per_block, per_block + 1),
            (0, nitems),
        ];
        for (start, wanted) in ranges {
            if start + wanted > nitems {
                continue;
            }
            // The reference undoes delta incorrectly (chunk.md 10.5), does not load dictionaries (10.6), and
            // overwrites the start of its input when a part is as long as a block (10.4).
            let unreliable = record.flags() & 0x08 != 0 || record.uses_dictionary();
            if library.is_reference() && (unreliable || wanted >= per_block.min(nitems)) {
                continue;
            }
            let expected = &record.data[start * typesize..(start + wanted) * typesize];
            let mut dest = vec![0xEE; expected.len()];
            let rc = context.getitem(&record.chunk, start as i32, wanted as i32, &mut dest);
            assert_eq!(rc, expected.len() as i32, "{}: items {start} + {wanted}", record.name);
            assert!(dest == expected, "{}: wrong items {start} + {wanted}", record.name);
        }
    }
}

#[test]
fn headers_are_read() {
    let library = Library::ours();
    for record in all_records() {
        let (mut nbytes, mut cbytes, mut blocksize) = (-1, -1, -1);
        // SAFETY: a chunk of at least 16 bytes and three outputs.
        let rc = unsafe {
            (library.blosc2_cbuffer_sizes)(
                record.chunk.as_ptr().cast(),
                &raw mut nbytes,
                &raw mut cbytes,
                &raw mut blocksize,
            )
        };
        assert_eq!(
            (rc, nbytes as usize, cbytes as usize),
            (0, record.data.len(), record.chunk.len()),
            "{}",
            record.name
        );
    }
}
