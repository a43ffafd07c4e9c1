//! How much memory a case may use, and how much it did: the peak of the process, from the system's counters.

use std::{env, fs};

/// 64 MiB, and 4096 bytes for each byte of the frame: more than any honest frame of these tests needs, and far below
/// what their length fields can claim.
pub fn allowance(frame_bytes: usize) -> usize {
    (64 << 20) + 4096 * frame_bytes
}

/// No more address space than this, so that a wild allocation fails instead of taking the machine down.
const ADDRESS_SPACE: u64 = 4 << 30;

/// Returns whether the memory of this process is limited and measured: not with `BLOSC2_MUTANT_MEMORY=unlimited`, for
/// AddressSanitizer, which maps terabytes and keeps freed memory.
fn is_limited() -> bool {
    env::var_os("BLOSC2_MUTANT_MEMORY").is_none_or(|value| value != "unlimited")
}

/// From here on, allocations beyond the limit fail.
pub fn limit_address_space() {
    if !is_limited() {
        return;
    }
    let limit = libc::rlimit { rlim_cur: ADDRESS_SPACE, rlim_max: ADDRESS_SPACE };
    // SAFETY: a valid struct.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &limit) }, 0);
}

/// A counter of the process, in bytes.
fn status(name: &str) -> usize {
    let text = fs::read_to_string("/proc/self/status").expect("the counters of the process");
    let line = text.lines().find(|line| line.starts_with(name)).expect("a counter");
    line.split_whitespace().nth(1).expect("a value").parse::<usize>().expect("a number") << 10
}

/// Resident memory of the process, in bytes.
pub fn resident() -> usize {
    status("VmRSS:")
}

/// Resident memory at the start of a case.
pub struct Gauge {
    before: usize,
}

impl Gauge {
    pub fn start() -> Gauge {
        // 5: the peak starts anew.
        fs::write("/proc/self/clear_refs", "5").expect("a peak to reset");
        Gauge { before: resident() }
    }

    /// The peak since then, beyond what there was; 0 if memory is not limited.
    pub fn grown(&self) -> usize {
        if !is_limited() {
            return 0;
        }
        status("VmHWM:").saturating_sub(self.before)
    }
}
