//! Upper limits for the memory that the library keeps between calls, in bytes. README states these limits, in its paragraph
//! "Memory"; the test below compares them.

/// Idle buffers of a thread: working memory for blocks, and buffers that chunks are read or compressed into. Worker threads keep
/// none between jobs.
pub const THREAD: usize = 64 << 20;

/// Idle blocks of the process: chunks that were freed, and the buffers of worker threads.
pub const PROCESS: usize = 32 << 20;

/// Idle blocks of the process, and as many of the thread, that stay when a super-chunk is freed.
pub const AFTER_FREE: usize = 1 << 20;

/// The block that a super-chunk keeps decoded.
pub const DECODED_BLOCK: usize = 16 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    /// The paragraph of README that begins so, in one line.
    fn paragraph(begin: &str) -> String {
        let readme = include_str!("../../README.md");
        let found = readme.split("\n\n").find(|paragraph| paragraph.starts_with(begin));
        found.expect("a paragraph of README").split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn readme_states_the_limits() {
        let memory = paragraph("Memory: ");
        let mib = |bytes: usize| format!("{} MiB", bytes >> 20);
        for stated in [
            format!("at most {} per calling thread", mib(THREAD)),
            format!("at most {} per process", mib(PROCESS)),
            format!("all but {} of each", mib(AFTER_FREE)),
            format!("one decoded block (none above {})", mib(DECODED_BLOCK)),
        ] {
            assert!(memory.contains(&stated), "README does not say {stated:?}: {memory}");
        }
    }
}
