//! Super-chunks under concurrency: threads that read one super-chunk, with and without threads that change it;
//! processes that share a frame, one of them with the reference library; more open frames than descriptors; forks.
//! Every result is checked. (`schunk.md` 19 and 21, `frame.md` 5.4 and 6; design decision 7.)
//!
//! By default each test takes about a second. `BLOSC2_CONCURRENCY_SECONDS` is how long threads work on one kind of
//! super-chunk, `BLOSC2_CONCURRENCY_APPENDS` how many chunks processes append, `BLOSC2_CONCURRENCY_FRAMES` how many
//! frames are open at once, `BLOSC2_CONCURRENCY_WRITES` how many writes of disjoint items are made to one array,
//! `BLOSC2_CONCURRENCY_COPIES` how many copies are made while another thread changes the original.

#![cfg(target_os = "linux")]

mod children;
mod content;
mod copies;
mod descriptors;
mod disjoint;
mod fork;
mod fork_locking;
mod lock_errors;
mod processes;
mod readers;
mod shapes;
mod slices;
mod writer;

use libblosc2_test_support::support;
