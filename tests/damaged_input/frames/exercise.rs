//! Calls all super-chunk functions on a super-chunk whose frame is damaged. Sizes that a frame may validly claim, but
//! that would exhaust the memory, are not requested.

use std::ptr;

use crate::support::random::Random;
use crate::support::super_chunk::SuperChunk;
use crate::support::watchdog;

/// The largest result that is requested, in bytes.
const MAX_RESULT_BYTES: i64 = 1 << 20;
/// Maximum number of chunks for functions that process all chunks.
const MAX_CHUNKS: i64 = 2000;
/// Maximum size in bytes of a chunk or block that a read may have to decode.
const MAX_DECODED_BYTES: i32 = 4 << 20;

pub struct Exercise;

/// Returns nbytes, blocksize and cbytes of a chunk header.
fn header_sizes(chunk: &[u8]) -> [i32; 3] {
    [4, 8, 12].map(|at| match chunk.get(at..at + 4) {
        Some(bytes) => i32::from_le_bytes(bytes.try_into().expect("four bytes")),
        None => 0,
    })
}

impl Exercise {
    pub fn read(&self, random: &mut Random, schunk: &SuperChunk) {
        let (nchunks, nbytes) = (schunk.nchunks(), schunk.nbytes());
        assert!(nchunks == 0 || nchunks > 0 && nbytes >= 0, "{nchunks} chunks, {nbytes} bytes");
        assert!(schunk.typesize() > 0, "items of {} bytes", schunk.typesize());
        assert!(nchunks == 0 || schunk.frame_len() > 0, "{} bytes of frame", schunk.frame_len());
        let decodable = self.read_chunks(random, schunk);
        if decodable {
            self.read_items(random, schunk);
        }
        self.read_metadata(schunk);
        watchdog::record_step();
        let mut limits = ([0i64; 32], [1i64; 32]);
        let mut found = ptr::null_mut();
        if nchunks <= MAX_CHUNKS {
            // SAFETY: one limit for as many dimensions as an array can have, and an out-pointer.
            unsafe {
                let count = (schunk.functions.blosc2_get_slice_nchunks)(
                    schunk.raw(),
                    limits.0.as_mut_ptr(),
                    limits.1.as_mut_ptr(),
                    &mut found,
                );
                if count > 0 {
                    assert!(!found.is_null());
                    let _ = std::slice::from_raw_parts(found, count as usize).iter().sum::<i64>();
                }
                libc::free(found.cast());
            }
            watchdog::record_step();
            if let Some(offsets) = schunk.offsets() {
                assert_eq!(offsets.len() as i64, nchunks);
            }
            watchdog::record_step();
            let _ = schunk.refresh();
            self.serialise(schunk);
        }
    }

    /// Returns whether every chunk that was read has a size that can be decoded to read an item.
    fn read_chunks(&self, random: &mut Random, schunk: &SuperChunk) -> bool {
        let nchunks = schunk.nchunks();
        let mut numbers: Vec<i64> = (0..nchunks.min(12)).collect();
        numbers.extend([nchunks - 1, nchunks, -1, i64::MAX, i64::MIN]);
        numbers.push(random.below(nchunks.max(1) as usize) as i64);
        let mut decodable = nchunks <= MAX_CHUNKS;
        for nchunk in numbers {
            watchdog::record_step();
            let inside = (0..nchunks).contains(&nchunk);
            let chunk = schunk.get_chunk(nchunk);
            assert!(inside || chunk.is_err(), "chunk {nchunk} of {nchunks}");
            watchdog::record_step();
            if let Ok(lazy) = schunk.get_lazychunk(nchunk) {
                assert!(inside, "lazy chunk {nchunk} of {nchunks}");
                assert!(lazy.len() >= 16, "a lazy chunk of {} bytes", lazy.len());
            }
            let [nbytes, blocksize, _] = chunk.as_ref().map_or([0; 3], |chunk| header_sizes(chunk));
            decodable &= nbytes <= MAX_DECODED_BYTES && blocksize <= MAX_DECODED_BYTES;
            watchdog::record_step();
            let room = i64::from(nbytes).clamp(0, MAX_RESULT_BYTES) as usize;
            if let Ok(bytes) = schunk.decompress_into(nchunk, room) {
                assert!(inside, "chunk {nchunk} of {nchunks}");
                assert_eq!(bytes.len() as i64, i64::from(nbytes), "chunk {nchunk}");
            }
            if decodable && inside {
                watchdog::record_step();
                for nblock in [0, 1, 5, -1] {
                    let _ = schunk.get_vlblock(nchunk, nblock);
                }
            }
        }
        decodable
    }

    fn read_items(&self, random: &mut Random, schunk: &SuperChunk) {
        let typesize = i64::from(schunk.typesize());
        let nitems = schunk.nbytes() / typesize;
        for _ in 0..3 {
            let start = random.below(nitems.clamp(1, 1 << 40) as usize + 2) as i64;
            let most = (MAX_RESULT_BYTES / 16 / typesize).min(nitems + 2).max(1);
            let stop = start + random.below(most as usize) as i64;
            watchdog::record_step();
            let room = (stop - start).saturating_mul(typesize);
            if room <= MAX_RESULT_BYTES {
                let _ = schunk.get_slice(start, stop, room as usize);
            }
            let coords: Vec<i64> =
                (0..6).map(|_| random.below(nitems.clamp(1, 1 << 40) as usize + 1) as i64).collect();
            watchdog::record_step();
            if 6 * typesize <= MAX_RESULT_BYTES {
                let _ = schunk.get_sparse(&coords, (6 * typesize) as usize);
                let _ = schunk.get_sparse(&coords[..1], (6 * typesize) as usize);
            }
        }
    }

    /// Returns whether no variable-length metalayer claims a size that would exhaust the memory.
    fn read_metadata(&self, schunk: &SuperChunk) -> bool {
        watchdog::record_step();
        for (name, _) in schunk.metalayers() {
            assert!(name.len() <= 31, "a name of {} bytes", name.len());
        }
        let names = schunk.vlmeta_names();
        let raw = schunk.raw_vlmetalayers();
        assert_eq!(names.len(), raw.len());
        let mut modest = true;
        for (name, (_, content_ptr)) in names.iter().zip(raw) {
            if header_sizes(&content_ptr)[0] > MAX_DECODED_BYTES {
                modest = false;
                continue;
            }
            watchdog::record_step();
            let _ = schunk.vlmeta_get_c(name);
        }
        modest
    }

    fn serialise(&self, schunk: &SuperChunk) {
        if self.read_metadata(schunk) {
            watchdog::record_step();
            if let Ok(frame) = schunk.to_buffer() {
                assert!(frame.len() >= 132, "a frame of {} bytes", frame.len());
            }
        }
    }

    /// Changes the super-chunk; whatever the calls return, it can be read and freed afterwards.
    pub fn change(&self, random: &mut Random, schunk: &SuperChunk) {
        if schunk.nchunks() > MAX_CHUNKS {
            return;
        }
        let src = match schunk.chunksize() {
            chunksize @ 1..=65_536 if random.one_in(2) => vec![random.byte(); chunksize as usize],
            _ => random.bytes(200),
        };
        for _ in 0..4 {
            let nchunk = random.below(schunk.nchunks().clamp(0, 1 << 20) as usize + 1) as i64;
            let before = (schunk.nchunks(), schunk.nbytes());
            watchdog::record_step();
            let result = match random.below(10) {
                0..=1 => schunk.append(&src),
                2 => match schunk.get_chunk(nchunk) {
                    Ok(chunk) if i64::from(header_sizes(&chunk)[2]) == chunk.len() as i64 => {
                        schunk.append_chunk(&chunk)
                    }
                    _ => continue,
                },
                3 => match schunk.get_chunk(0) {
                    Ok(chunk) if i64::from(header_sizes(&chunk)[2]) == chunk.len() as i64 => {
                        schunk.update_chunk(nchunk, &chunk)
                    }
                    _ => continue,
                },
                4 => match schunk.get_chunk(0) {
                    Ok(chunk) if i64::from(header_sizes(&chunk)[2]) == chunk.len() as i64 => {
                        schunk.insert_chunk(nchunk, &chunk)
                    }
                    _ => continue,
                },
                5..=6 => schunk.delete_chunk(nchunk),
                7 => {
                    let order: Vec<i64> = (0..schunk.nchunks()).rev().collect();
                    schunk.reorder(&order);
                    continue;
                }
                8 => {
                    schunk.vlmeta_add("new", b"some content");
                    schunk.vlmeta_delete("short");
                    continue;
                }
                _ => {
                    schunk.meta_update("first", b"another");
                    schunk.vlmeta_update("longer", b"shorter");
                    continue;
                }
            };
            let after = (schunk.nchunks(), schunk.nbytes());
            match result {
                Ok(count) => assert_eq!(count, after.0, "the number of chunks"),
                Err(code) => assert_eq!(after, before, "counters after error {code}"),
            }
        }
        watchdog::record_step();
        for nchunk in 0..schunk.nchunks().min(6) {
            let nbytes = schunk.get_chunk(nchunk).map_or(0, |chunk| header_sizes(&chunk)[0]);
            let _ = schunk.decompress_into(nchunk, i64::from(nbytes).clamp(0, MAX_RESULT_BYTES) as usize);
        }
    }
}
