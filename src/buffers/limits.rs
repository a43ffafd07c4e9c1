//! Upper limits for the memory that the library keeps between calls, in bytes. `docs/memory.md` states these limits;
//! the test below compares them.

/// Idle buffers of a thread: working memory for blocks, and buffers that chunks are read or compressed into. Four
/// buffers for chunks of 16 MiB, the size up to which appended chunks are compressed into such a buffer. Worker threads
/// keep none between jobs.
pub const MAX_THREAD_IDLE: usize = 64 << 20;

/// Idle blocks of the process: chunks that were freed, and the buffers of worker threads. With less, programs that make
/// and free arrays of some MiB allocate fresh memory for each (`cargo bench --bench side_by_side -- --group apart`).
pub const MAX_PROCESS_IDLE: usize = 32 << 20;

/// Idle blocks of the process that stay when a super-chunk other than the first is freed, for the chunks of the next
/// one. With 4 to 16 MiB, the mean of `cargo bench --bench side_by_side -- --group apart --summary` is the same; with 8
/// MiB instead of 16, that of the cells that append (`--group schunk --only append_`) is 4 % lower.
pub const MAX_PROCESS_IDLE_AFTER_FREE: usize = 16 << 20;

/// Idle buffers that stay with the thread that frees a super-chunk, and idle blocks of the process that stay when the
/// first super-chunk is freed. `cargo bench --bench side_by_side -- --group apart --summary` prints the mean of the
/// speed ratios to the reference: 1.9 if 4 or 8 MiB of buffers stay (`docs/performance.md` has the mean with this
/// limit).
pub const MAX_THREAD_IDLE_AFTER_FREE: usize = 1 << 20;

/// The block that a super-chunk keeps decoded.
pub const MAX_CACHED_BLOCK: usize = 16 << 20;

/// Buffers that a thread keeps together with the state of its codecs, instead of on its list, for each of two levels of
/// nested calls: taking buffers from the list costs 3 % of the decompression of 4 KiB (`scripts/count-instructions.sh
/// lz4`).
pub const MAX_BUFFERS_WITH_CODEC_STATE: usize = 128 << 10;

/// Number of worker threads between jobs for which the process keeps the state of the codecs.
pub const MAX_CODEC_STATES: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_document_states_the_limits() {
        let document = include_str!("../../docs/memory.md");
        let mib = |bytes: usize| format!("{} MiB", bytes >> 20);
        for row in [
            format!("| idle buffers of a calling thread | {} |", mib(MAX_THREAD_IDLE)),
            format!("of worker threads) | {} |", mib(MAX_PROCESS_IDLE)),
            format!("and {} KiB of buffers;", MAX_BUFFERS_WITH_CODEC_STATE >> 10),
            format!("for at most {MAX_CODEC_STATES} worker threads |"),
            format!("one decoded block (none above {})", mib(MAX_CACHED_BLOCK)),
            format!(
                "| {0} of idle buffers of the thread, {0} of the process, no codec state |",
                mib(MAX_THREAD_IDLE_AFTER_FREE)
            ),
            format!(
                "| {} of idle buffers of the thread, {} of the process |",
                mib(MAX_THREAD_IDLE_AFTER_FREE),
                mib(MAX_PROCESS_IDLE_AFTER_FREE)
            ),
        ] {
            assert!(document.contains(&row), "docs/memory.md does not contain {row:?}");
        }
    }
}
