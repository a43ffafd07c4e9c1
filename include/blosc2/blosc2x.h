/* Generated from include-src/, src/abi and src/capi by `BLESS=1 cargo test --test abi headers`:
   change those, not this file. */
/* Extensions: functions that C-Blosc2 does not have. Their names begin with `blosc2x_`. A program that calls one runs
   only with this library. */

#ifndef BLOSC_BLOSC2_BLOSC2X_H
#define BLOSC_BLOSC2_BLOSC2X_H

#include <stdint.h>

#include "blosc2.h"
#include "blosc2-export.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Errors ---- */

/**
 * Returns the text of the last error of the calling thread: the text of the error code, as
 * `blosc2_error_string` returns it, and details, for example `Invalid data: ...`. The string
 * belongs to the library and must not be freed. It is valid until the next call of this thread
 * that fails, or the end of the thread. A call that succeeds does not change the text, so a
 * program reads it only after a call has failed. Calls of other threads do not change it either,
 * and neither do the inline functions `blosc2_meta_exists` and `blosc2_meta_get`.
 *
 * Returns NULL if no call of the thread has failed. Without memory for the details, the text is
 * that of the error code alone.
 */
BLOSC_EXPORT
const char *blosc2x_last_error(void);

/* ---- Durability of files ---- */

enum {
  /** Durability level: files are changed in place, as by C-Blosc2. */
  BLOSC2X_DURABILITY_OFF = 0,
  /** Durability level: when the process dies, each change is in the file completely or not at all. */
  BLOSC2X_DURABILITY_KILL = 1,
  /** Durability level: as `BLOSC2X_DURABILITY_KILL`, also when the machine loses power. */
  BLOSC2X_DURABILITY_POWER = 2
};

/* ---- Durability ---- */

/**
 * Sets `level`, what a change of a super-chunk on disk leaves if the process dies or the machine
 * loses power in the middle of it: `BLOSC2X_DURABILITY_OFF`, `_KILL` or `_POWER`. Before this
 * call, the level is that of the environment variable `BLOSC2_DURABILITY` (`off`, `kill` or
 * `power`) when the super-chunk was created or opened, otherwise `BLOSC2X_DURABILITY_KILL`. The
 * level belongs to this super-chunk, not to the file.
 *
 * Returns 0; `BLOSC2_ERROR_INVALID_PARAM` for another level, for a view, and for a level other
 * than `BLOSC2X_DURABILITY_OFF` if the super-chunk is in memory, in a mapped file, or uses a
 * registered I/O back-end; `BLOSC2_ERROR_FAILURE` between `blosc2_schunk_lock` and
 * `blosc2_schunk_unlock`; an error of writing the file, whose layout the level
 * `BLOSC2X_DURABILITY_OFF` changes.
 *
 * Note: `schunk` is NULL or a super-chunk of this library.
 */
BLOSC_EXPORT
int blosc2x_schunk_set_durability(blosc2_schunk *schunk,
                                  int level);

/**
 * Waits until all completed changes of a super-chunk on disk survive a loss of power: the files,
 * and their names. At the level `BLOSC2X_DURABILITY_POWER` they do so already. Changes since an
 * open `blosc2_schunk_lock` are not completed. Nothing happens for a super-chunk in memory.
 *
 * Returns 0; `BLOSC2_ERROR_INVALID_PARAM` for a super-chunk in a mapped file or with a registered
 * I/O back-end; `BLOSC2_ERROR_FILE_OPEN` or `BLOSC2_ERROR_FILE_WRITE` if the system reports an
 * error.
 *
 * Note: `schunk` is NULL or a super-chunk of this library.
 */
BLOSC_EXPORT
int blosc2x_schunk_sync(blosc2_schunk *schunk);

/* ---- Files of a network ---- */

/** Bytes of a file that are read soon. */
typedef struct blosc2x_io_range {
  /**
   * The name that the function `open` of the I/O back-end gets. Valid during the call of the
   * `blosc2x_io_fetch`.
   */
  const char *urlpath;
  /** Position of the first byte in the file. */
  int64_t start;
  /** Position behind the last byte; it may be behind the end of the file. */
  int64_t stop;
} blosc2x_io_range;

/**
 * Makes `nranges` ranges of files available to the functions `open` and `read` of an I/O
 * back-end, all at once where reading them one by one takes longer. Ranges may overlap. `params`
 * is the pointer of the `blosc2_io`. Returns a pointer to what is held in memory until the
 * `blosc2x_io_release` gets it, for example the ranges; NULL for an error.
 */
typedef void *(*blosc2x_io_fetch)(const blosc2x_io_range *ranges, int64_t nranges, void *params);

/**
 * Releases `held`, which a `blosc2x_io_fetch` returned. `params` is the pointer of the
 * `blosc2_io`.
 */
typedef void (*blosc2x_io_release)(void *held, void *params);

/* ---- Files of a network ---- */

/**
 * Gives the registered I/O back-end `id` two functions for files that are read over a network, in
 * place of earlier ones: before a slice, a whole chunk, a box or a selection of an array is read,
 * `fetch` gets the ranges of the files that the read needs, first the tables of all chunks, then
 * their blocks, and `release` gets the results when the read ends. Of the locks of the library,
 * only that of the shape of an array may be held while they run. Other reads call `read` alone.
 * NULL for both removes the functions. Super-chunks that are open keep those that they have.
 *
 * Returns 0. Errors: -30 for an id that is not registered, -12 if one of the functions is NULL
 * and the other is not.
 *
 * Note: The functions obey the contracts of their typedefs, and stay loaded.
 */
BLOSC_EXPORT
int blosc2x_register_io_fetch(uint8_t id,
                              blosc2x_io_fetch fetch,
                              blosc2x_io_release release);

/* ---- The automatic tuner ---- */

enum {
  /**
   * Mode of the automatic tuner: the geometric mean of the speeds of compression and decompression
   * counts.
   */
  BLOSC2X_TUNER_BALANCED = 0,
  /** Mode of the automatic tuner: the speed of compression counts. */
  BLOSC2X_TUNER_COMPRESSION = 1,
  /** Mode of the automatic tuner: the speed of decompression counts. */
  BLOSC2X_TUNER_DECOMPRESSION = 2,
  /**
   * The id of the automatic tuner, which chooses codec, level and filters by the data. It is the
   * last id of the library's own tuners: C-Blosc2 numbers its own from 0.
   */
  BLOSC2X_TUNER_AUTO = 31
};

/**
 * Parameters of the automatic tuner, which maximises `tradeoff * ln(ratio) + (1 - tradeoff) *
 * ln(speed)`.
 */
typedef struct blosc2x_tuner_params {
  /** `sizeof(blosc2x_tuner_params)`. Another size is an error. */
  uint32_t size;
  /** The speed that counts: `BLOSC2X_TUNER_BALANCED`, `_COMPRESSION` or `_DECOMPRESSION`. */
  int32_t mode;
  /** From 0 (speed) to 1 (ratio). */
  double tradeoff;
} blosc2x_tuner_params;

/* ---- The automatic tuner ---- */

/**
 * Has contexts, super-chunks and arrays that are created with `cparams` choose codec, level and
 * filters by the data: sets `cparams->tuner_id` to `BLOSC2X_TUNER_AUTO` and
 * `cparams->tuner_params` to `params`. The library reads `*params` whenever it creates a context
 * with `*cparams` or a copy of it, for example in `blosc2_create_cctx`, `blosc2_schunk_new` or
 * `b2nd_empty`; `*params` must stay valid until then. The context keeps a copy.
 *
 * The choice depends on the content of the chunk and of earlier chunks of the context, not on
 * time or threads. All releases of C-Blosc2 read the chunks: the tuner chooses from the built-in
 * codecs, the levels 1 to 9, and the filters shuffle, bitshuffle and delta. A block size in
 * `cparams` that is not 0 is kept. The tuner does not choose, and the parameters of `cparams` are
 * used, if `cparams` has a codec that is not built in, a filter other than shuffle, bitshuffle
 * and delta, a dictionary, a prefilter, or `instr_codec`.
 *
 * Returns 0; -12 if `cparams` or `params` is NULL, `params->size` is not
 * `sizeof(blosc2x_tuner_params)`, the mode is unknown, or the tradeoff is not from 0 to 1.
 * `*cparams` is unchanged then.
 *
 * Note: `*params` stays valid as long as contexts are created with the parameters.
 */
BLOSC_EXPORT
int blosc2x_tuner_auto(blosc2_cparams *cparams,
                       const blosc2x_tuner_params *params);

/**
 * Explains the choice of the automatic tuner with `params` for the `nbytes` bytes at `src`, items
 * of `typesize` bytes (at least 1; more than 255 counts as 1, as in a chunk), as the first chunk
 * of a context.
 *
 * Returns an object of JSON as a string, which the caller frees with `free()`; NULL after an
 * error, whose text `blosc2x_last_error` returns: one of the parameters is NULL or out of range,
 * or memory runs out. The object has the members `tradeoff`, `mode`, `nbytes`, `typesize`,
 * `choice`, `candidates` (the choice, then nine others with the best predicted scores) and
 * `features` (one object for each pipeline of filters). A candidate has `codec`, `clevel`,
 * `filters`, and the predicted `ratio`, `compression_mb_s` and `decompression_mb_s`: millions of
 * bytes per second of one thread on the machine that the model was fitted on.
 */
BLOSC_EXPORT
char *blosc2x_tuner_explain(const void *src,
                            int32_t nbytes,
                            int32_t typesize,
                            const blosc2x_tuner_params *params);

/* ---- Damaged frames ---- */

enum {
  /** Part of a frame: the header. */
  BLOSC2X_PART_HEADER = 1,
  /** Part of a frame: a fixed metalayer. */
  BLOSC2X_PART_METALAYER = 2,
  /** Part of a frame: a variable-length metalayer. */
  BLOSC2X_PART_VLMETALAYER = 3,
  /** Part of a frame: the index, which has the positions of the chunks. */
  BLOSC2X_PART_INDEX = 4,
  /** Part of a frame: the trailer, or the table of checksums before it. */
  BLOSC2X_PART_TRAILER = 5,
  /** Part of a frame: a chunk. */
  BLOSC2X_PART_CHUNK = 6,
  /** The file or directory as a whole, for example one that cannot be read. */
  BLOSC2X_PART_FILE = 7,
  /**
   * Data behind the frame in its file: another frame, or other parts of an archive. They are no
   * damage, and not counted.
   */
  BLOSC2X_PART_OTHER_DATA = 8
};

/** A damaged part of a frame. */
typedef struct blosc2x_damage {
  /** The part: `BLOSC2X_PART_*`. */
  int32_t part;
  /** The error that reading the part gives: `BLOSC2_ERROR_*`; 0 for `BLOSC2X_PART_OTHER_DATA`. */
  int32_t cause;
  /** Number of the chunk; -1 for other parts. */
  int64_t nchunk;
  /**
   * Position of the part in the file in bytes; for a chunk of a directory, in the file of the
   * chunk. -1 if it is unknown.
   */
  int64_t offset;
  /** Length of the part in bytes; -1 if it is unknown. */
  int64_t length;
  /** What was expected and what was found. Valid during the call of the `blosc2x_report`. */
  const char *message;
} blosc2x_damage;

/**
 * Receives one damaged part. `damage` is valid during the call; `user_data` is the pointer that
 * the program passed together with this function. Returns 0 to go on, another value to stop.
 */
typedef int (*blosc2x_report)(const blosc2x_damage *damage, void *user_data);

/** Options of `blosc2x_verify`. */
typedef struct blosc2x_verify_options {
  /**
   * `sizeof(blosc2x_verify_options)`. Later versions of the library may have more fields behind
   * the present ones.
   */
  uint32_t size;
  /** Number of threads that decompress; 0 = that of `blosc2_get_nthreads`. */
  int16_t nthreads;
  /** Offset in bytes at which the frame begins in its file. */
  int64_t offset;
} blosc2x_verify_options;

/* ---- Damaged frames ---- */

/**
 * Checks everything in the frame at `urlpath`, a file or a directory: header, metalayers, index,
 * trailer, metalayers of variable length, and every chunk, which is decompressed completely.
 * Changes nothing, and needs memory for one compressed chunk, one block per thread, the index,
 * and the checksums. `options` gives the offset of the frame in its file in bytes and the number
 * of threads; NULL stands for zeros.
 *
 * Calls `report(damage, user_data)`, unless it is NULL, for each damaged part. The struct belongs
 * to the library and is valid during the call. Chunks are reported in the order of their places.
 * A frame that cannot be opened has a damaged part, too. Data that follow a whole frame in its
 * file, for example another frame, are reported as the part `BLOSC2X_PART_OTHER_DATA` with the
 * cause 0; they are no damage and are not counted. Bytes that interrupted changes of the frame
 * have left behind it are not reported. Codecs and filters of the program run without a
 * super-chunk; a chunk whose codec is not registered is damaged with the cause -7.
 *
 * The parts of a frame with checksums (`BLOSC2_CHECKSUMS`) are compared with them, unless the
 * variable is `off`. A part with another checksum has the cause -3, and `message` gives both
 * values. The header and its metalayers have one checksum, and are reported as the header; the
 * trailer and its metalayers of variable length also have one, and are reported as the trailer,
 * as is the table of checksums. A frame that was changed by a library without checksums has none.
 * Without checksums, bytes that were replaced by others that can be decompressed are no damage.
 *
 * Returns the number of damaged parts; 0 for a frame without damage. Errors: -4 if memory runs
 * out; -12 for NULL, a negative offset or number of threads, or a wrong `options->size`; -15 when
 * nothing exists at `urlpath` or it cannot be opened; -37 when the lock between processes cannot
 * be acquired; the code of the header, for example -11 or -13, for a file that holds no frame. If
 * `report` returns another value than 0, that value if it is negative, otherwise -1.
 *
 * Note: `report` is NULL or obeys the contract of its typedef.
 */
BLOSC_EXPORT
int64_t blosc2x_verify(const char *urlpath,
                       const blosc2x_verify_options *options,
                       blosc2x_report report,
                       void *user_data);

/**
 * Saves everything that is whole in the frame at `source`, a file or a directory, into a new
 * frame of the same kind at `destination`, which must not exist. The source is not changed.
 * `blosc2x_verify` finds no damage in the new frame.
 *
 * If the index is whole, all chunks keep their numbers: a lost chunk is replaced by zeros of its
 * size. Whole metalayers are kept, so that an array stays an array; damaged ones are left out. If
 * the index is lost, after a write that was interrupted or in a file that was cut off, the chunks
 * are found by their headers. They are saved in the order of their places, so their numbers are
 * uncertain; the message of the damaged index says so. Chunks without bytes (zeros, NaNs,
 * uninitialised) are lost then, and chunks that were deleted or replaced may come back. If the
 * header is whole, zeros take the places of the chunks that it counts and that were not found. If
 * the header is lost, the metalayers are lost, too.
 *
 * In a frame with checksums (`BLOSC2_CHECKSUMS`), a chunk with another checksum is damaged, also
 * if it can be decompressed. If the file has the checksums of parts of the chunk, zeros replace
 * only its damaged blocks, and the message names them. If header or index are damaged, the
 * checksums give the numbers of the chunks. Metalayers are kept although the checksum of the
 * header or of the trailer differs. The new frame has checksums unless `BLOSC2_CHECKSUMS` is
 * `off` or `verify`.
 *
 * Calls `report(damage, user_data)`, unless it is NULL, for each damaged part, as
 * `blosc2x_verify` does, and for each chunk that was replaced by zeros. For bytes between chunks,
 * the number of the chunk is -1.
 *
 * Returns the number of chunks that were saved, without those that were replaced. Errors: -1 if
 * the whole parts do not make a frame without damage; -4 if memory runs out; -12 for NULL; -15
 * when nothing exists at `source`, or something at `destination`, or `destination` cannot be
 * created; -14 for a failed write; the code of the header, for example -11 or -13, for a file
 * that holds no frame and no chunk; the value of `report`, as for `blosc2x_verify`. After an
 * error, `destination` does not exist.
 *
 * Note: `report` is NULL or obeys the contract of its typedef.
 */
BLOSC_EXPORT
int64_t blosc2x_repair(const char *source,
                       const char *destination,
                       blosc2x_report report,
                       void *user_data);

#ifdef __cplusplus
}
#endif

#endif /* BLOSC_BLOSC2_BLOSC2X_H */
