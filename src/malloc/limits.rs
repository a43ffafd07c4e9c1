//! How much memory the library keeps between calls, in bytes. README states these limits, in its paragraph "Memory"; the
//! test below compares them.

/// Working memory of a thread for one level of work; there are two, since a block may be decoded on the way to the encoding
/// of another. It is five buffers of the largest block.
pub const SCRATCH: usize = 64 << 20;

/// Each of the three buffers that a thread keeps for chunks: one that it reads chunks of frames into, one that it compresses
/// chunks into, and one for the block of which it takes items here and there.
pub const THREAD_BUFFER: usize = 16 << 20;

/// The block that a super-chunk keeps decoded.
pub const DECODED_BLOCK: usize = 16 << 20;

/// The blocks of memory of chunks that were freed, for the whole process.
pub const FREED: usize = 32 << 20;

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
            format!("working memory, five times the largest block it has seen, {} at most", mib(SCRATCH)),
            format!("three buffers for chunks of {} each at most", mib(THREAD_BUFFER)),
            format!("{} of such memory at most", mib(2 * SCRATCH + 3 * THREAD_BUFFER)),
            format!("The process keeps up to {}", mib(FREED)),
            format!("one decoded block (none above {})", mib(DECODED_BLOCK)),
        ] {
            assert!(memory.contains(&stated), "README does not say {stated:?}: {memory}");
        }
    }
}
