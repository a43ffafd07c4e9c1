//! Limits and measures the memory that a test case uses: the peak of the process, from counters of the system.

use std::{env, fs};

/// 64 MiB, plus 4096 bytes per byte of the frame: more than any valid frame of these tests needs, and much less than
/// damaged length fields can claim.
pub fn max_memory(frame_bytes: usize) -> usize {
    (64 << 20) + 4096 * frame_bytes
}

/// Limit of the address space in bytes, so that an excessive allocation fails instead of exhausting the memory of the
/// machine.
const ADDRESS_SPACE_LIMIT: u64 = 4 << 30;

/// Returns whether the memory of this process is limited and measured, which only Linux does. `BLOSC2_MUTANT_MEMORY=unlimited`
/// switches both off for AddressSanitizer, which maps terabytes and keeps freed memory.
fn is_limited() -> bool {
    cfg!(target_os = "linux") && env::var_os("BLOSC2_MUTANT_MEMORY").is_none_or(|value| value != "unlimited")
}

/// Sets the limit of the address space: allocations beyond it fail from now on.
pub fn limit_address_space() {
    if is_limited() {
        super::system::limit_address_space(ADDRESS_SPACE_LIMIT);
    }
}

/// Returns a counter of the process, in bytes.
fn process_counter(name: &str) -> usize {
    let text = fs::read_to_string("/proc/self/status").expect("the counters of the process");
    let line = text.lines().find(|line| line.starts_with(name)).expect("a counter");
    line.split_whitespace().nth(1).expect("a value").parse::<usize>().expect("a number") << 10
}

/// Returns the resident memory of the process, in bytes.
pub fn resident_bytes() -> usize {
    process_counter("VmRSS:")
}

/// Returns the resident memory that does not belong to files: which pages of a library are resident depends on what the
/// system has cached.
pub fn anonymous_bytes() -> usize {
    process_counter("RssAnon:")
}

/// The resident memory at the start of a case.
pub struct PeakMemory {
    before: usize,
}

impl PeakMemory {
    pub fn start() -> PeakMemory {
        if !is_limited() {
            return PeakMemory { before: 0 };
        }
        // Writing 5 resets the peak.
        fs::write("/proc/self/clear_refs", "5").expect("a peak to reset");
        PeakMemory { before: resident_bytes() }
    }

    /// Returns by how many bytes the peak since the start exceeds the memory at the start; 0 if memory is not
    /// limited.
    pub fn growth(&self) -> usize {
        if !is_limited() {
            return 0;
        }
        process_counter("VmHWM:").saturating_sub(self.before)
    }
}
