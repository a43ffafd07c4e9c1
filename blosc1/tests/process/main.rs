//! The library and the process: settings, environment variables, threads, forks. Each test runs in a process of its own.
//!
//! | module | contents |
//! |---|---|
//! | `environment` | each variable with valid and invalid values, also in a second call without it |
//! | `forks` | children of a process with a pool, or with threads that compress |
//! | `settings` | defaults, setters, `blosc_init`, `blosc_destroy`, `blosc_free_resources` |
//! | `threads` | numbers of threads, calls from many threads, threads that cannot be created |
//! | `work` | a compression and a decompression that are checked |

#![cfg(target_os = "linux")]

mod environment;
mod forks;
mod settings;
#[path = "../support/mod.rs"]
mod support;
mod threads;
mod work;
