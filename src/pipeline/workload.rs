//! Decides how many threads work on a call: the time that its blocks are expected to take, against the time that
//! threads have added to earlier calls.
//!
//! A call begins on the caller's thread if its blocks are expected to take too little time for several threads. After
//! some blocks their time is known, and threads are started for the remaining blocks if they are worth it.
//! `cargo bench --bench threads` measures calls of 1 to 16 blocks and with 1 to 64 threads.

use crate::pool;
use std::cell::Cell;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::time::{Duration, Instant};

/// Below this many uncompressed bytes, a call runs on the caller's thread, and no time is measured: reading the clock
/// takes more than 1 % of a call of this many bytes that are copied.
const MIN_MEASURED_NBYTES: usize = 16 << 10;

/// The time per byte before any was measured, in picoseconds: that of a copy.
const INITIAL_RATE: u32 = 100;

/// The time that threads add to a call, in nanoseconds, before any was measured: if the first worker sleeps, and if
/// it is awake (`cargo bench --bench threads -- gaps`, on a virtual machine with 2 cores: 35 to 65 us, and 3 to 8 us).
const INITIAL_OVERHEADS: [u32; 2] = [60_000, 5_000];

/// Limits of the time that threads are expected to add to a call, in nanoseconds. The lower one is the time that the
/// caller needs to wake a worker (`cargo bench --bench pool`, `workers asleep`). The upper one limits the effect of times
/// at which other programs use the processors: calls of more than 1 ms run on several threads in any case.
const MIN_OVERHEAD: u32 = 3_000;
const MAX_OVERHEAD: u32 = 200_000;

/// The longest call whose overhead is measured, in nanoseconds of one thread.
const MAX_MEASURED_TIME: u64 = 1_000_000;

/// A call that runs on one thread because of the measured overhead is tried on several threads, to measure the overhead
/// again, when such calls have taken this many times the expected overhead: trials take about 1 % of the time.
const OVERHEADS_PER_TRIAL: u64 = 128;

/// A call follows the thread's last call immediately if it begins at most this long after its end: a worker that had
/// worked on the last call would still spin (`SHORT_SPIN` in `src/pool/park.rs`).
const IMMEDIATE_GAP: Duration = Duration::from_micros(5);

/// The number of calls, each of which follows the one before immediately, after which a call is expected to be followed
/// by another one, and uses the overhead of workers that are awake. If no call follows, waking the workers has cost a few
/// percent of the time of these calls.
const MIN_IMMEDIATE_CALLS: u32 = 32;

/// The expected time of a call on several threads that is worth their processor time, in percent of the time on one
/// thread: if the first worker sleeps, and if it is awake. A fifth less elapsed time is worth it; the time until a
/// sleeping worker begins varies more (`cargo bench --bench threads -- gaps`).
const WORTHWHILE_PERCENT: [u64; 2] = [70, 77];

/// What is done with the bytes of a call. Each kind has a speed of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WorkKind {
    /// Bytes are copied, or filled with a value.
    Copy,
    /// Items are chunks, of any number of bytes.
    Items,
    /// Streams of that codec format are decoded.
    Decode(u8),
    /// Streams of that codec format are decoded as far as a reader needs them.
    DecodePart(u8),
    /// Streams are encoded with that codec and level.
    Encode(i32, i32),
}

impl WorkKind {
    const FORMAT_COUNT: usize = 8;
    const LEVEL_COUNT: usize = 10;
    /// The number of kinds. Codecs that are not built in share their kinds.
    const COUNT: usize = 2 + (2 + Self::LEVEL_COUNT) * Self::FORMAT_COUNT;

    fn index(self) -> usize {
        let format = |format: usize| format.min(Self::FORMAT_COUNT - 1);
        let (group, format) = match self {
            WorkKind::Copy => return 0,
            WorkKind::Items => return 1,
            WorkKind::Decode(codec) => (0, format(codec.into())),
            WorkKind::DecodePart(codec) => (1, format(codec.into())),
            WorkKind::Encode(codec, clevel) => {
                (2 + clevel.clamp(0, 9) as usize, format(usize::try_from(codec).unwrap_or(usize::MAX)))
            }
        };
        2 + group * Self::FORMAT_COUNT + format
    }
}

thread_local! {
    /// The end of the thread's last measured call, and the number of calls before it that followed each other
    /// immediately.
    static LAST_CALL: Cell<Option<(Instant, u32)>> = const { Cell::new(None) };
}

/// The measured times that decisions are based on. Threads read and write them without order: each is a hint.
struct CostEstimates {
    /// Time per byte of each kind of work on one thread, in picoseconds.
    rates: [AtomicU32; WorkKind::COUNT],
    /// The time that threads add to a call, in nanoseconds: if the first worker sleeps, and if it is awake.
    overheads: [AtomicU32; 2],
    /// The total time of the calls since the last trial that were not worth several threads, but would be with the
    /// smallest overhead.
    refused_time: AtomicU64,
}

static ESTIMATES: CostEstimates = CostEstimates::new();

impl CostEstimates {
    const fn new() -> CostEstimates {
        let [asleep, awake] = INITIAL_OVERHEADS;
        CostEstimates {
            rates: [const { AtomicU32::new(INITIAL_RATE) }; WorkKind::COUNT],
            overheads: [AtomicU32::new(asleep), AtomicU32::new(awake)],
            refused_time: AtomicU64::new(0),
        }
    }

    /// Returns the expected time of `nbytes` bytes on one thread, in nanoseconds.
    fn block_time(&self, kind: WorkKind, nbytes: usize) -> u64 {
        nbytes as u64 * u64::from(self.rates[kind.index()].load(Relaxed)) / 1000
    }

    /// Records that `nbytes` bytes took `time` nanoseconds on one thread.
    fn record_time(&self, kind: WorkKind, nbytes: usize, time: u64) {
        let rate = &self.rates[kind.index()];
        let old = u64::from(rate.load(Relaxed));
        let new = smoothed(old, time * 1000 / nbytes.max(1) as u64).max(1);
        // Not every call writes to the cache line, which all threads read.
        if new.abs_diff(old) > old / 32 {
            rate.store(u32::try_from(new).unwrap_or(u32::MAX), Relaxed);
        }
    }

    /// Returns whether a call of `count` blocks of `time` nanoseconds each begins on `nthreads` threads: because it is
    /// worth them, because the next calls probably are, or in order to measure the overhead again. The call follows
    /// `ncalls` calls immediately.
    fn selects_threads(&self, count: usize, time: u64, nthreads: usize, is_awake: bool, ncalls: u32) -> bool {
        if self.is_worthwhile(count, time, nthreads, is_awake || ncalls >= MIN_IMMEDIATE_CALLS) {
            return true;
        }
        if !is_worthwhile(count, time, nthreads, MIN_OVERHEAD, WORTHWHILE_PERCENT[0]) {
            return false;
        }
        // The overhead may have been measured while other programs ran. A trial consists of two calls: in the second one,
        // the worker is awake if the calls follow each other immediately.
        let time = count as u64 * time;
        let refused = self.refused_time.fetch_add(time, Relaxed);
        let limit = OVERHEADS_PER_TRIAL * u64::from(self.overheads[usize::from(is_awake)].load(Relaxed));
        if refused >= limit + time {
            self.refused_time.store(0, Relaxed);
        }
        refused >= limit
    }

    /// Returns whether `count` blocks of `time` nanoseconds each are worth `nthreads` threads.
    fn is_worthwhile(&self, count: usize, time: u64, nthreads: usize, is_awake: bool) -> bool {
        let overhead = self.overheads[usize::from(is_awake)].load(Relaxed);
        is_worthwhile(count, time, nthreads, overhead, WORTHWHILE_PERCENT[usize::from(is_awake)])
    }

    /// Records that `count` blocks of `time` nanoseconds each took `elapsed` nanoseconds on `nthreads` threads.
    fn record_overhead(&self, count: usize, time: u64, nthreads: usize, is_awake: bool, elapsed: u64) {
        // In long calls, blocks of different durations outweigh the overhead.
        if count as u64 * time > MAX_MEASURED_TIME {
            return;
        }
        let overhead = &self.overheads[usize::from(is_awake)];
        let measured = elapsed.saturating_sub(count.div_ceil(nthreads) as u64 * time);
        let old = overhead.load(Relaxed);
        let new = smoothed(old.into(), measured) as u32;
        overhead.store(new.clamp(MIN_OVERHEAD, MAX_OVERHEAD), Relaxed);
    }
}

/// Returns an average of which a quarter is the new measurement. A thread that is interrupted measures too long a time:
/// one measurement increases the average by a half at most.
fn smoothed(average: u64, measured: u64) -> u64 {
    (3 * average + measured.min(3 * average)) / 4
}

/// Returns whether `count` blocks of `time` nanoseconds each are worth `nthreads` threads that add `overhead`
/// nanoseconds: whether they then take at most `percent` % of the time on one thread.
fn is_worthwhile(count: usize, time: u64, nthreads: usize, overhead: u32, percent: u64) -> bool {
    let parallel = count.div_ceil(nthreads) as u64 * time + u64::from(overhead);
    parallel * 100 <= count as u64 * time * percent
}

/// The work of one call, and the threads that it may use.
#[derive(Clone, Copy)]
pub(crate) struct Workload {
    kind: WorkKind,
    /// Number of threads, 1 for the caller's thread only.
    nthreads: usize,
    blocksize: usize,
    /// Whether the program's threads callback runs the work: all threads start at once.
    uses_callback: bool,
}

impl Workload {
    /// Returns the work on `nbytes` bytes in blocks of `blocksize` bytes (`chunk.md` 6.2), on up to `nthreads` threads: no
    /// more than there are cores, unless blocks wait for files or for functions of the program (`waits`). A program's
    /// threads callback is called for every chunk of at least two full blocks: it may count its calls.
    pub(crate) fn new(
        kind: WorkKind,
        nthreads: usize,
        nbytes: usize,
        blocksize: usize,
        waits: bool,
    ) -> Workload {
        let uses_callback = pool::has_callback();
        let is_serial = nthreads <= 1
            || nbytes / blocksize.max(1) <= 1
            || (nbytes < MIN_MEASURED_NBYTES && !uses_callback)
            || pool::is_in_job();
        let nthreads = match is_serial {
            true => 1,
            false if waits || uses_callback => nthreads,
            false => nthreads.min(pool::core_count()),
        };
        Workload { kind, nthreads, blocksize, uses_callback }
    }

    /// Returns the number of threads that may work.
    pub(crate) fn nthreads(&self) -> usize {
        self.nthreads
    }

    /// Returns the number of threads for `count` blocks. A program's threads callback is called with all threads.
    pub(crate) fn nthreads_for(&self, count: usize) -> usize {
        if self.uses_callback { self.nthreads } else { self.nthreads.min(count) }
    }

    /// Returns the same work on at most `nthreads` threads.
    pub(crate) fn limited_to(self, nthreads: usize) -> Workload {
        Workload { nthreads: self.nthreads.min(nthreads.max(1)), ..self }
    }

    /// Begins the work on `count` blocks, of which the first `lead` run on the caller's thread in any case.
    pub(crate) fn begin_serial_phase(&self, count: usize, lead: usize) -> SerialPhase<'_> {
        let start = (self.nthreads > 1 && !self.uses_callback).then(Instant::now);
        let ncalls = start.map_or(0, |start| match LAST_CALL.get() {
            Some((end, ncalls)) if start.saturating_duration_since(end) < IMMEDIATE_GAP => ncalls + 1,
            _ => 0,
        });
        SerialPhase { work: self, count, lead, start, ncalls, next_check: 0 }
    }

    /// Begins the part of the work on `count` blocks that runs on several threads.
    pub(crate) fn begin_parallel_phase(&self, count: usize) -> ParallelPhase<'_> {
        ParallelPhase { work: self, count, is_awake: pool::is_worker_awake(), start: Instant::now() }
    }
}

/// The part of a call that runs on the caller's thread alone.
pub(crate) struct SerialPhase<'a> {
    work: &'a Workload,
    count: usize,
    lead: usize,
    /// `None` if no time is measured.
    start: Option<Instant>,
    /// The number of calls that this one follows immediately.
    ncalls: u32,
    /// The number of blocks after which the remaining time is estimated again.
    next_check: usize,
}

impl SerialPhase<'_> {
    /// Returns whether one more block runs in this phase, after `done` blocks. Returns `false` after the last block.
    pub(crate) fn includes_next(&mut self, done: usize) -> bool {
        let Workload { kind, nthreads, blocksize, uses_callback } = *self.work;
        let left = self.count - done;
        if left == 0 {
            self.record(done);
            return false;
        }
        if done < self.lead {
            return true;
        }
        let Some(start) = self.start else { return !uses_callback || nthreads == 1 || left == 1 };
        if done < self.next_check {
            return true;
        }
        self.next_check = done + (MIN_MEASURED_NBYTES / blocksize.max(1)).max(1);
        let is_awake = pool::is_worker_awake();
        let is_serial = !match done {
            0 => {
                let time = ESTIMATES.block_time(kind, blocksize);
                ESTIMATES.selects_threads(left, time, nthreads, is_awake, self.ncalls)
            }
            _ => ESTIMATES.is_worthwhile(left, nanoseconds_since(start) / done as u64, nthreads, is_awake),
        };
        if !is_serial {
            self.record(done);
        }
        is_serial
    }

    fn record(&self, done: usize) {
        if let Some(start) = self.start.filter(|_| done > 0) {
            let end = Instant::now();
            let time = (end - start).as_nanos() as u64;
            ESTIMATES.record_time(self.work.kind, done * self.work.blocksize, time);
            LAST_CALL.set(Some((end, self.ncalls)));
        }
    }
}

/// The part of a call that runs on several threads.
pub(crate) struct ParallelPhase<'a> {
    work: &'a Workload,
    count: usize,
    /// Whether the first worker was awake when the phase began.
    is_awake: bool,
    start: Instant,
}

impl ParallelPhase<'_> {
    /// Records the end of the phase. The caller's thread worked on `callers_count` of the blocks, for `callers_time`
    /// nanoseconds.
    pub(crate) fn record(&self, callers_count: usize, callers_time: u64) {
        let Workload { kind, nthreads, blocksize, uses_callback } = *self.work;
        if uses_callback {
            return;
        }
        let end = Instant::now();
        LAST_CALL.set(Some((end, 0)));
        if callers_count > 0 {
            ESTIMATES.record_time(kind, callers_count * blocksize, callers_time);
            let time = callers_time / callers_count as u64;
            let elapsed = (end - self.start).as_nanos() as u64;
            ESTIMATES.record_overhead(self.count, time, nthreads, self.is_awake, elapsed);
        }
    }
}

pub(crate) fn nanoseconds_since(start: Instant) -> u64 {
    start.elapsed().as_nanos() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIND: WorkKind = WorkKind::Decode(1);

    /// Calls of one kind, in a machine whose times do not vary.
    #[derive(Clone, Copy)]
    struct Calls {
        count: usize,
        /// Time of a block in nanoseconds.
        time: u64,
        /// Time that threads add if the first worker sleeps, and if it is awake.
        overheads: [u64; 2],
        /// Whether the calls follow each other immediately.
        is_immediate: bool,
    }

    impl Calls {
        const NTHREADS: usize = 2;
        const BLOCKSIZE: usize = 64 << 10;

        fn serial_time(self) -> u64 {
            self.count as u64 * self.time
        }

        /// Makes `ncalls` calls. Returns their total time, relative to that on one thread, and the share of the calls
        /// that began on several threads.
        fn run(self, estimates: &CostEstimates, ncalls: u32) -> (f64, f64) {
            let (mut total, mut nparallel, mut is_awake, mut nimmediate) = (0, 0, false, 0);
            for _ in 0..ncalls {
                let time = estimates.block_time(KIND, Self::BLOCKSIZE);
                if estimates.selects_threads(self.count, time, Self::NTHREADS, is_awake, nimmediate) {
                    let elapsed = self.count.div_ceil(Self::NTHREADS) as u64 * self.time
                        + self.overheads[usize::from(is_awake)];
                    estimates.record_overhead(self.count, self.time, Self::NTHREADS, is_awake, elapsed);
                    (total, nparallel, nimmediate) = (total + elapsed, nparallel + 1, 0);
                    is_awake = self.is_immediate;
                } else {
                    (total, is_awake) = (total + self.serial_time(), false);
                    nimmediate += u32::from(self.is_immediate);
                }
                estimates.record_time(KIND, Self::BLOCKSIZE, self.time);
            }
            (
                total as f64 / (u64::from(ncalls) * self.serial_time()) as f64,
                f64::from(nparallel) / f64::from(ncalls),
            )
        }
    }

    #[test]
    fn calls_with_threads_are_never_much_slower_than_without() {
        for asleep in [3_000, 10_000, 60_000, 150_000] {
            for count in [2, 3, 4, 8, 16] {
                for time in [1_000, 3_000, 10_000, 30_000, 100_000, 1_000_000] {
                    for is_immediate in [false, true] {
                        let calls = Calls { count, time, overheads: [asleep, asleep / 10], is_immediate };
                        let estimates = CostEstimates::new();
                        // The first calls measure.
                        calls.run(&estimates, 5000);
                        let (total, _) = calls.run(&estimates, 5000);
                        assert!(total <= 1.03, "{count} blocks of {time} ns, overhead {asleep} ns: {total}");
                    }
                }
            }
        }
    }

    #[test]
    fn long_calls_use_threads_and_short_ones_do_not() {
        let calls = |time, is_immediate| Calls { count: 16, time, overheads: [60_000, 3_000], is_immediate };
        let share = |calls: Calls| {
            let estimates = CostEstimates::new();
            calls.run(&estimates, 200);
            calls.run(&estimates, 5000).1
        };
        assert_eq!(share(calls(1_000_000, false)), 1.0);
        assert_eq!(share(calls(30_000, false)), 1.0);
        assert!(share(calls(5_000, false)) < 0.03);
        assert_eq!(share(calls(500, false)), 0.0);
        // The workers stay awake between calls that follow each other.
        assert!(share(calls(5_000, true)) > 0.9);
    }

    #[test]
    fn first_calls_with_many_bytes_use_threads_at_once() {
        let estimates = CostEstimates::new();
        let begins_on_threads = |nbytes: usize, count: usize| {
            let time = estimates.block_time(KIND, nbytes / count);
            estimates.selects_threads(count, time, 2, false, 0)
        };
        assert!(begins_on_threads(16 << 20, 16));
        assert!(begins_on_threads(16 << 20, 2));
        assert!(!begins_on_threads(256 << 10, 4));
    }

    #[test]
    fn overheads_of_a_busy_machine_are_forgotten() {
        let busy = Calls { count: 4, time: 100_000, overheads: [400_000, 400_000], is_immediate: false };
        let estimates = CostEstimates::new();
        busy.run(&estimates, 2000);
        assert!(busy.run(&estimates, 2000).1 < 0.05);
        let quiet = Calls { overheads: [20_000, 2_000], ..busy };
        quiet.run(&estimates, 2000);
        assert_eq!(quiet.run(&estimates, 2000).1, 1.0);
    }

    #[test]
    fn one_interrupted_call_changes_no_decision() {
        let calls = Calls { count: 16, time: 30_000, overheads: [40_000, 4_000], is_immediate: false };
        let estimates = CostEstimates::new();
        calls.run(&estimates, 200);
        estimates.record_overhead(calls.count, calls.time, Calls::NTHREADS, false, 10_000_000);
        estimates.record_time(KIND, Calls::BLOCKSIZE, 10_000_000);
        assert_eq!(calls.run(&estimates, 1000).1, 1.0);
    }

    #[test]
    fn the_average_follows_data_of_another_speed() {
        let estimates = CostEstimates::new();
        for time in [1_000, 1_000_000, 10_000] {
            for _ in 0..40 {
                estimates.record_time(KIND, Calls::BLOCKSIZE, time);
            }
            let expected = estimates.block_time(KIND, Calls::BLOCKSIZE);
            assert!(expected.abs_diff(time) < time / 4, "{expected} for {time}");
        }
        assert_eq!(estimates.block_time(WorkKind::Copy, 1000), u64::from(INITIAL_RATE));
    }

    #[test]
    fn kinds_have_different_indices() {
        let mut indices = vec![WorkKind::Copy.index(), WorkKind::Items.index()];
        for codec in 0..8u8 {
            indices.extend([WorkKind::Decode(codec).index(), WorkKind::DecodePart(codec).index()]);
            indices.extend((0..10).map(|clevel| WorkKind::Encode(codec.into(), clevel).index()));
        }
        indices.sort_unstable();
        assert!(indices.iter().copied().eq(0..WorkKind::COUNT));
        // Codecs without an own kind, and the negative id of an unknown codec.
        for codec in [8, 255, -1] {
            assert!(WorkKind::Encode(codec, 5).index() < WorkKind::COUNT);
        }
    }

    #[test]
    fn serial_work_is_never_divided() {
        let load = Workload::new(KIND, 1, 1 << 30, 1 << 20, false);
        assert_eq!(load.nthreads(), 1);
        let mut phase = load.begin_serial_phase(3, 0);
        assert!((0..3).all(|done| phase.includes_next(done)));
        assert!(!phase.includes_next(3));
        // Less than two full blocks.
        assert_eq!(Workload::new(KIND, 8, 100_000, 65_536, false).nthreads(), 1);
        assert_eq!(Workload::new(KIND, 8, 1 << 20, 1 << 16, true).nthreads(), 8);
        assert_eq!(Workload::new(KIND, 8, 1 << 20, 1 << 16, true).limited_to(3).nthreads(), 3);
        let most = Workload::new(KIND, 1000, 1 << 20, 1 << 16, false).nthreads();
        assert_eq!(most, pool::core_count());
    }

    #[test]
    fn a_long_call_is_divided_after_its_lead() {
        let load = Workload::new(KIND, 2, 1 << 30, 1 << 26, true);
        let mut phase = load.begin_serial_phase(16, 1);
        assert!(phase.includes_next(0));
        assert!(!load.begin_serial_phase(16, 0).includes_next(0));
    }
}
