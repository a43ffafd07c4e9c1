//! The overhead of running a job on the pool, as ratios to a direct call of the job and to a round trip to a thread
//! through a channel, in the same process and run.

use std::hint::black_box;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use blosc2::internals::pool::{prestart, run};

/// Returns the median time of `rounds` runs of `work` in ns, with `pause` before each.
fn median_time(rounds: usize, pause: Duration, mut work: impl FnMut()) -> f64 {
    let mut times: Vec<f64> = (0..rounds)
        .map(|_| {
            if !pause.is_zero() {
                thread::sleep(pause);
            }
            let start = Instant::now();
            work();
            start.elapsed().as_nanos() as f64
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[rounds / 2]
}

/// Returns the mean time of one call of `work` in a tight loop, in ns.
fn mean_time(calls: u32, mut work: impl FnMut()) -> f64 {
    let start = Instant::now();
    (0..calls).for_each(|_| work());
    start.elapsed().as_nanos() as f64 / f64::from(calls)
}

/// Returns a job of `count` blocks of arithmetic. Its threads take the blocks from the counter that is its argument.
fn block_job(count: u64) -> impl Fn(&AtomicU64) {
    move |next| {
        while next.fetch_add(1, Relaxed) < count {
            let mut x = 1u64;
            for i in 0..2000 {
                x = black_box(x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(i));
            }
        }
    }
}

fn main() {
    let tiny = |_: usize| {
        black_box(0);
    };
    prestart(4).expect("workers");
    println!("cores: {}", thread::available_parallelism().map_or(0, usize::from));

    let direct = mean_time(1_000_000, || run(1, &tiny).expect("job"));
    println!("run(1, tiny)                       {direct:9.0} ns");
    for nthreads in [2, 3, 4] {
        let hot = mean_time(200_000, || run(nthreads, &tiny).expect("job"));
        println!("run({nthreads}, tiny), one after another     {hot:9.0} ns  {:6.0} x direct", hot / direct);
    }
    let pause = Duration::from_micros(300);
    let clock = median_time(2000, pause, || {
        black_box(0);
    });
    for nthreads in [2, 3, 4] {
        let parked = median_time(2000, pause, || run(nthreads, &tiny).expect("job"));
        println!("run({nthreads}, tiny), workers asleep        {:9.0} ns", parked - clock);
    }

    // Wake-up latency: from the call of `run` until the worker is inside the job, while the caller spins.
    let latency = |pause| {
        median_time(2000, pause, || {
            let came = AtomicU64::new(0);
            let late = Instant::now() + Duration::from_millis(1);
            run(2, &|tid| {
                if tid == 1 {
                    came.store(1, Relaxed);
                }
                while came.load(Relaxed) == 0 && Instant::now() < late {}
            })
            .expect("job");
        })
    };
    let hot = latency(Duration::ZERO);
    let asleep = latency(pause);
    let (to, inbox) = mpsc::channel::<()>();
    let (outbox, from) = mpsc::channel::<()>();
    let echo = thread::spawn(move || inbox.iter().for_each(|()| outbox.send(()).expect("open")));
    let channel = median_time(2000, pause, || {
        to.send(()).expect("open");
        from.recv().expect("open");
    });
    drop(to);
    echo.join().expect("thread");
    println!("worker inside the job, hot         {hot:9.0} ns");
    println!(
        "worker inside the job, asleep      {asleep:9.0} ns  {:6.2} x a channel round trip",
        asleep / channel
    );

    // The speed-up of two threads, by the duration of the job.
    for count in [2u64, 8, 32, 128, 1024] {
        let work = block_job(count);
        let time = |nthreads, pause| {
            median_time(400, pause, || {
                let next = AtomicU64::new(0);
                run(nthreads, &|_| work(&next)).expect("job");
            })
        };
        let serial = time(1, Duration::ZERO);
        let hot = serial / time(2, Duration::ZERO);
        let serial_rested = time(1, pause);
        let asleep = serial_rested / time(2, pause);
        println!("job of {:8.1} us: 2 threads {hot:5.2} x, after a pause {asleep:5.2} x", serial / 1000.0);
    }
}
