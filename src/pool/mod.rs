//! The process-wide worker threads.
