//! Codecs, filters and tuners by id: the built-in ones, those of the library's range, those of the user.
