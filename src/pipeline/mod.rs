//! Contexts, and how a buffer becomes blocks, streams and a chunk, and back.
