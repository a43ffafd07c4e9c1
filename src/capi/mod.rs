//! The exported `extern "C"` functions, one file per section of the headers. A function here checks its
//! pointers, borrows them as safe types, calls one core function and maps the result to the ABI's code.
