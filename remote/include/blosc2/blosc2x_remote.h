/* Reading super-chunks and arrays of object stores and web servers, with the library `libblosc2_remote.so`. It works with
   this libblosc2 and with C-Blosc2; docs/remote.md compares them.

   The simplest program: `blosc2x_remote_new`, `blosc2x_remote_open`, reads (`blosc2_schunk_get_slice_buffer`,
   `b2nd_from_schunk` and `b2nd_get_slice_cbuffer`, and so on), `blosc2_schunk_free` or `b2nd_free`, `blosc2x_remote_free`.
   Programs that open super-chunks by `blosc2_schunk_open_udio` call `blosc2x_remote_register`, and pass
   `blosc2_io io = {BLOSC2X_REMOTE_ID, NULL, client}` (not with C-Blosc2, which opens only names of local files).

   URLs are those of the crate object_store: s3://, gs://, az://, http://, https:// and others. A URL that ends with `/` is
   that of a directory. Everything is read-only: changes return an error. A client keeps the version of a file that it has
   opened first: if the file changes, reads return an error; a new client opens the new version.

   Any number of threads may use a client and its super-chunks. In a child of a fork, functions with a client or a super-chunk
   of the parent return an error; a child that requests anything starts another program (`exec`) or is forked before the first
   request. Reads that fail return the codes of libblosc2, and `blosc2x_remote_last_error` has the reason. */

#ifndef BLOSC_BLOSC2_BLOSC2X_REMOTE_H
#define BLOSC_BLOSC2_BLOSC2X_REMOTE_H

#include <stdint.h>

#include <blosc2.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  /** Id of the I/O back-end. */
  BLOSC2X_REMOTE_ID = 245
};

/** Settings, pages of files in memory, and counts. The `params` of a `blosc2_io`. */
typedef struct blosc2x_remote_client blosc2x_remote_client;

/**
 * Registers the back-end `BLOSC2X_REMOTE_ID` with the libblosc2 that the program has loaded. Its functions must be visible
 * to other libraries: a program that links the static libblosc2 is linked with `-rdynamic`.
 *
 * Returns 0, also when it is registered already; `BLOSC2_ERROR_PLUGIN_IO` without a libblosc2, and if another back-end has the
 * id.
 */
int blosc2x_remote_register(void);

/**
 * Makes a client with a cache of 64 MiB, at most 16 requests at a time, and 60 seconds for each request. The environment
 * variables `AWS_*`, `GOOGLE_*` and `AZURE_*` are its options. The caller frees it with `blosc2x_remote_free`.
 *
 * Returns NULL after an error.
 */
blosc2x_remote_client *blosc2x_remote_new(void);

/**
 * Frees `client`; does nothing for NULL. Super-chunks of `blosc2x_remote_open` can still be used. Those that
 * `blosc2_schunk_open_udio` has opened with this client are freed before.
 */
void blosc2x_remote_free(blosc2x_remote_client *client);

/**
 * Sets the option `name` of the crate object_store, for example `region`, `aws_endpoint`, `aws_access_key_id`,
 * `aws_secret_access_key` or `allow_http`. Files that are open keep their options.
 *
 * Returns 0; `BLOSC2_ERROR_INVALID_PARAM` for NULL and for text that is not UTF-8. A name that no store has is ignored.
 */
int blosc2x_remote_set_option(blosc2x_remote_client *client, const char *name, const char *value);

/**
 * Sets how many bytes of files stay in memory, in place of the cache of this client.
 *
 * Returns 0; `BLOSC2_ERROR_INVALID_PARAM` for NULL and a negative number.
 */
int blosc2x_remote_set_cache(blosc2x_remote_client *client, int64_t nbytes);

/**
 * Also keeps pages of files in the directory `directory`, at most `nbytes` bytes, which clients of several processes share. The
 * directory is made if it does not exist, and has nothing else.
 *
 * Returns 0; `BLOSC2_ERROR_INVALID_PARAM` for NULL and a negative number; a code if the directory cannot be used.
 */
int blosc2x_remote_set_disk_cache(blosc2x_remote_client *client, const char *directory, int64_t nbytes);

/**
 * Sets how many requests are made at a time.
 *
 * Returns 0; `BLOSC2_ERROR_INVALID_PARAM` for NULL and a number below 1.
 */
int blosc2x_remote_set_parallel(blosc2x_remote_client *client, int nrequests);

/**
 * Sets how many seconds a request may take, with its repetitions after errors of the server or the network.
 *
 * Returns 0; `BLOSC2_ERROR_INVALID_PARAM` for NULL and a number that is not above 0.
 */
int blosc2x_remote_set_time_limit(blosc2x_remote_client *client, double seconds);

/** Returns the number of requests of `client`, without repetitions after errors; a negative code for NULL. */
int64_t blosc2x_remote_requests(const blosc2x_remote_client *client);

/** Returns the number of bytes that these requests have returned; a negative code for NULL. */
int64_t blosc2x_remote_nbytes(const blosc2x_remote_client *client);

/**
 * Registers the back-end, and opens the super-chunk at `url`: a file, or a directory if the URL ends with `/`. With C-Blosc2, a
 * temporary file of the length of the frame exists during the call, without content, in the directory for temporary files.
 *
 * Returns the super-chunk, which the caller frees with `blosc2_schunk_free`, or passes to `b2nd_from_schunk`. Returns NULL
 * after an error.
 */
blosc2_schunk *blosc2x_remote_open(blosc2x_remote_client *client, const char *url);

/**
 * Returns the text of the last error of this library in any thread, without passwords; NULL if there was none. The string is
 * valid until the next call of this function by the same thread.
 */
const char *blosc2x_remote_last_error(void);

#ifdef __cplusplus
}
#endif

#endif /* BLOSC_BLOSC2_BLOSC2X_REMOTE_H */
