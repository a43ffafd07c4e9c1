//! The initial setup of a sequence: the store, the back-end, the compression parameters and the sizes. It depends on
//! the seed alone.

use crate::support::calls::Params;
use crate::support::random::Random;

/// The four kinds of storage (schunk.md 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StorageKind {
    MemorySparse,
    MemoryFrame,
    DiskFrame,
    Directory,
}

impl StorageKind {
    pub const ALL: [StorageKind; 4] =
        [StorageKind::MemorySparse, StorageKind::MemoryFrame, StorageKind::DiskFrame, StorageKind::Directory];

    pub fn is_contiguous(self) -> bool {
        matches!(self, StorageKind::MemoryFrame | StorageKind::DiskFrame)
    }

    pub fn is_on_disk(self) -> bool {
        matches!(self, StorageKind::DiskFrame | StorageKind::Directory)
    }

    pub fn has_frame(self) -> bool {
        self != StorageKind::MemorySparse
    }
}

/// The back-end of a file (frame.md 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// Files, back-end 0.
    Native,
    /// Back-end 0 with the lock of the frame.
    Locking,
    /// Memory mapping, back-end 1; contiguous frames only.
    Mapped { initial: usize },
    /// A user-defined back-end that fills buffers.
    FillsBuffer,
    /// A user-defined back-end that returns pointers.
    ReturnsPointers,
}

impl Backend {
    pub fn pick(random: &mut Random, store: StorageKind) -> Backend {
        match random.below(8) {
            _ if !store.is_on_disk() => Backend::Native,
            0 | 1 => Backend::FillsBuffer,
            2 => Backend::ReturnsPointers,
            3 => Backend::Locking,
            4 | 5 if store == StorageKind::DiskFrame => Backend::Mapped { initial: 64 << 20 },
            _ => Backend::Native,
        }
    }

    /// Reads return pointers to memory of the back-end.
    pub fn returns_pointers(self) -> bool {
        matches!(self, Backend::Mapped { .. } | Backend::ReturnsPointers)
    }

    /// Other handles may open the files as well.
    pub fn can_share_files(self) -> bool {
        matches!(self, Backend::Native | Backend::Locking)
    }
}

/// All choices that are drawn before the first step.
#[derive(Clone, Debug)]
pub struct Setup {
    pub store: StorageKind,
    pub backend: Backend,
    pub params: Params,
    /// Number of threads of the decompression context.
    pub dthreads: i16,
    /// `blosc2_set_nthreads`, which applies to opened handles.
    pub global_threads: i16,
    /// Uncompressed bytes of an ordinary chunk.
    pub chunksize: i32,
    /// Chunks of many sizes.
    pub variable_chunksize: bool,
    /// Chunks with blocks of variable length.
    pub vl: bool,
    /// Every chunk is read after every step, not only those that the step changed.
    pub checks_every_chunk: bool,
    /// The path begins with `file:///`.
    pub has_file_prefix: bool,
    /// Small mappings move while the file grows; the sequence has no variable-length metalayers then (frame.md 9,
    /// mmap).
    pub moving_map: bool,
}

impl Setup {
    pub fn draw(random: &mut Random) -> Setup {
        let store = *random.pick(&StorageKind::ALL);
        let mut backend = Backend::pick(random, store);
        let moving_map = matches!(backend, Backend::Mapped { .. }) && random.one_in(2);
        if moving_map {
            backend = Backend::Mapped { initial: *random.pick(&[1, 100, 4096, 65_536]) };
        }
        let typesize = *random.pick(&[1, 1, 2, 4, 4, 4, 7, 8, 8, 16, 255, 256, 300]);
        let params = draw_params(random, typesize);
        let bytes = *random.pick(&[40, 100, 160, 1000, 1000, 4000, 4000, 20_000]);
        Setup {
            store,
            backend,
            params,
            dthreads: *random.pick(&[1, 1, 2]),
            global_threads: *random.pick(&[1, 1, 1, 2]),
            chunksize: (bytes / typesize).max(2) * typesize,
            variable_chunksize: random.one_in(3),
            vl: random.one_in(8),
            checks_every_chunk: !random.one_in(3),
            has_file_prefix: random.one_in(10),
            moving_map,
        }
    }
}

/// Draws compression parameters for items of `typesize` bytes.
pub fn draw_params(random: &mut Random, typesize: i32) -> Params {
    // Only lossless filters: the contents of a chunk must not depend on whether it was compressed or stored.
    let filters = *random.pick(&[
        [0, 0, 0, 0, 0, 1],
        [0, 0, 0, 0, 0, 1],
        [0, 0, 0, 0, 0, 2],
        [0, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 3],
        [0, 0, 0, 0, 3, 1],
        [1, 0, 0, 0, 0, 0],
    ]);
    let codec = *random.pick(&[0, 0, 1, 1, 2, 4, 5]);
    Params {
        codec,
        codec_meta: 0,
        clevel: *random.pick(&[0, 1, 3, 5, 5, 7, 9]),
        use_dict: matches!(codec, 1 | 2 | 5) && random.one_in(8),
        typesize,
        nthreads: *random.pick(&[1, 1, 1, 2]),
        blocksize: match random.below(4) {
            0 | 1 => 0,
            2 => typesize * *random.pick(&[1, 4, 16, 64]),
            _ => typesize * *random.pick(&[100, 256, 1000]),
        },
        splitmode: *random.pick(&[1, 2, 3, 4, 4]),
        filters,
        filters_meta: [0; 6],
    }
}
