//! The first fields of a context (`abi.md` 4.3, `chunk.md` 5.5): opaque in the public headers, but tuner plugins
//! and some programs are compiled against this layout. They read the fields, and write `blocksize`, `tuner_params`
//! and `new_nthreads`. The library's own context begins with this struct.

use std::ffi::{c_int, c_void};
use std::mem::offset_of;
#[cfg(target_pointer_width = "64")]
use std::mem::size_of;

use super::{
    BLOSC2_MAX_FILTERS, BLOSC2_MAX_UDFILTERS, CBool, blosc2_filter, blosc2_postfilter_fn,
    blosc2_postfilter_params, blosc2_prefilter_fn, blosc2_prefilter_params, blosc2_schunk,
};

/// Space of a mutex in the original layout; always zero here.
pub type MutexStorage = [u64; 5];
/// Space of a condition variable in the original layout; always zero here.
pub type CondvarStorage = [u64; 6];

/// The part of a context that tuner plugins and some programs access. Sizes are in bytes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ContextHead {
    /// Source of the current call; borrowed.
    pub src: *const u8,
    /// Destination of the current call; borrowed.
    pub dest: *mut u8,
    /// Flags of the chunk.
    pub header_flags: u8,
    /// Blosc2 flags of the chunk; 0x80 = instrumented.
    pub blosc2_flags: u8,
    /// Second Blosc2 flags of the chunk.
    pub blosc2_flags2: u8,
    /// Uncompressed size.
    pub sourcesize: i32,
    /// Length of the chunk header.
    pub header_overhead: i32,
    /// Number of blocks of the chunk.
    pub nblocks: i32,
    /// Size of the last block if it is shorter than the others; 0 if all blocks have the same size.
    pub leftover: i32,
    /// Block size; tuners write it.
    pub blocksize: i32,
    /// Block size in the chunk header.
    pub header_blocksize: i32,
    /// Split mode.
    pub splitmode: i32,
    /// Number of bytes written so far.
    pub output_bytes: i32,
    /// Size of the source buffer.
    pub srcsize: i32,
    /// Size of the destination; after compressing, the compressed size.
    pub destsize: i32,
    /// Item size.
    pub typesize: i32,
    /// Offsets of the blocks in the chunk.
    pub bstarts: *mut i32,
    /// Uncompressed sizes of variable-length blocks.
    pub blocknbytes: *mut i32,
    /// Offsets of variable-length blocks in the destination.
    pub blockoffsets: *mut i32,
    /// Compressed sizes of variable-length blocks.
    pub blockcbytes: *mut i32,
    /// Addresses of the uncompressed variable-length blocks.
    pub vlblock_sources: *mut *const u8,
    /// Addresses of the destinations of variable-length blocks.
    pub vlblock_dests: *mut *mut u8,
    /// Kind of special chunk, `BLOSC2_SPECIAL_ZERO` and so on.
    pub special_type: i32,
    /// Codec id.
    pub compcode: c_int,
    /// Meta byte of the codec.
    pub compcode_meta: u8,
    /// Compression level.
    pub clevel: c_int,
    /// Non-zero if a dictionary is used.
    pub use_dict: c_int,
    /// The dictionary.
    pub dict_buffer: *mut c_void,
    /// Size of the dictionary.
    pub dict_size: i32,
    /// Dictionary prepared for compressing.
    pub dict_cdict: *mut c_void,
    /// Dictionary prepared for decompressing.
    pub dict_ddict: *mut c_void,
    /// Chunk flags for the filters.
    pub filter_flags: u8,
    /// Filter ids.
    pub filters: [u8; BLOSC2_MAX_FILTERS as usize],
    /// Meta bytes of the filters.
    pub filters_meta: [u8; BLOSC2_MAX_FILTERS as usize],
    /// Not used.
    pub urfilters: [blosc2_filter; BLOSC2_MAX_UDFILTERS as usize],
    /// Prefilter, or NULL.
    pub prefilter: blosc2_prefilter_fn,
    /// Postfilter, or NULL.
    pub postfilter: blosc2_postfilter_fn,
    /// The context's copy of the prefilter's parameters.
    pub preparams: *mut blosc2_prefilter_params,
    /// The context's copy of the postfilter's parameters.
    pub postparams: *mut blosc2_postfilter_params,
    /// Flags of the blocks that the next decompression skips, or NULL.
    pub block_maskout: *mut CBool,
    /// Number of flags at `block_maskout`.
    pub block_maskout_nitems: c_int,
    /// Super-chunk that the context belongs to, or NULL; borrowed.
    pub schunk: *mut blosc2_schunk,
    /// Not used.
    pub serial_context: *mut c_void,
    /// 1 for a compression context, 0 for a decompression context.
    pub do_compress: c_int,
    /// State of the tuner; written by its `init`.
    pub tuner_params: *mut c_void,
    /// Tuner id.
    pub tuner_id: c_int,
    /// Parameters of a plugin codec; borrowed.
    pub codec_params: *mut c_void,
    /// Parameters of the plugin filters; borrowed.
    pub filter_params: [*mut c_void; BLOSC2_MAX_FILTERS as usize],
    /// Number of threads.
    pub nthreads: i16,
    /// Number of threads from the next call on; programs and tuners write it.
    pub new_nthreads: i16,
    /// 0 = serial, 1 = shared pool, 2 = the caller's own threads, 3 = one pool per context.
    pub thread_backend: i16,
    /// Number of threads that were started.
    pub threads_started: i16,
    /// Not used.
    pub thread_contexts: *mut c_void,
    /// NULL for serial contexts; equal for contexts that share a pool.
    pub thread_pool: *mut c_void,
    /// Not used.
    pub pool_epoch: i32,
    /// Not used.
    pub job: *mut c_void,
    /// Not used.
    pub count_mutex: MutexStorage,
    /// Not used.
    pub nchunk_mutex: MutexStorage,
    /// Error code that stopped the threads.
    pub thread_giveup_code: i32,
    /// Not used.
    pub dref_not_init: i32,
    /// Not used.
    pub delta_mutex: MutexStorage,
    /// Not used.
    pub delta_cv: CondvarStorage,
    /// Non-zero if the context owns the dictionary.
    pub dict_buffer_owned: u8,
    /// Not used.
    pub end_threads: i16,
    /// Not used.
    pub job_seq: u32,
    /// Not used.
    pub active_workers: i16,
    /// Not used.
    pub thread_nblock: i32,
    /// Not used.
    pub threads: *mut c_void,
    /// Not used.
    pub jobs_mutex: MutexStorage,
    /// Not used.
    pub jobs_ready: CondvarStorage,
    /// Not used.
    pub jobs_done: CondvarStorage,
}

#[cfg(target_pointer_width = "64")]
const _: () = {
    assert!(size_of::<ContextHead>() == 1344);
    assert!(offset_of!(ContextHead, blocksize) == 36);
    assert!(offset_of!(ContextHead, bstarts) == 64);
    assert!(offset_of!(ContextHead, compcode) == 116);
    assert!(offset_of!(ContextHead, filters) == 169);
    assert!(offset_of!(ContextHead, urfilters) == 184);
    assert!(offset_of!(ContextHead, prefilter) == 824);
    assert!(offset_of!(ContextHead, schunk) == 872);
    assert!(offset_of!(ContextHead, tuner_params) == 896);
    assert!(offset_of!(ContextHead, new_nthreads) == 970);
    assert!(offset_of!(ContextHead, thread_pool) == 984);
    assert!(offset_of!(ContextHead, count_mutex) == 1008);
    assert!(offset_of!(ContextHead, thread_giveup_code) == 1088);
    assert!(offset_of!(ContextHead, delta_cv) == 1136);
    assert!(offset_of!(ContextHead, job_seq) == 1188);
    assert!(offset_of!(ContextHead, threads) == 1200);
    assert!(offset_of!(ContextHead, jobs_done) == 1296);
};

/// With pointers of 32 bits, the fields that tuner plugins write.
#[cfg(target_pointer_width = "32")]
const _: () = {
    assert!(offset_of!(ContextHead, blocksize) == 28);
    assert!(offset_of!(ContextHead, tuner_params) == 488);
    assert!(offset_of!(ContextHead, new_nthreads) == 526);
};
