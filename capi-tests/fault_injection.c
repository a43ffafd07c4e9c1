/* A library for LD_PRELOAD that replaces the functions that change or synchronise files. tests/durability uses it in
   two ways, which can be combined:

   - Faults. fault_start(KIND, CALL) arms a fault: call number CALL (from 0) gets it. fault_stop() disarms it and
     returns the number of calls since fault_start. fault_call(I) describes call number I.
   - Missing memory. memory_fail(MIN_LEN, CALL) makes allocation number CALL (from 0) of the library fail, among those
     of MIN_LEN bytes or more; memory_stop() ends that.
   - Recording. record_start(LOG) starts to append each call that succeeds, with its data, to the file LOG.
     record_mark(VALUE) appends a number. record_stop() ends the recording. tests/durability/recording.rs reads the log.

   Calls on regular files and directories are counted, except calls on the log. Only one thread may make these calls. A
   call that changes a file in a way that is not counted, such as a writable mapping, aborts the process. No file is
   really synchronised. */
#undef _FORTIFY_SOURCE /* Its inline functions would collide with the definitions below. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* The function of the C library that the function NAME of this file replaces. */
#define REAL(name)                                                            \
  ({                                                                          \
    static __typeof__(&name) real_;                                           \
    if (!real_) real_ = (__typeof__(&name))dlsym(RTLD_NEXT, #name);           \
    real_;                                                                    \
  })

enum { SECTOR = 512 };

/* ---- Faults ---- */

/* TORN_FIRST and TORN_LAST kill the process in a write, when the bytes before the first or the last sector boundary of
   the write are in the file. tests/durability/faults.rs describes the other kinds. */
enum kind { NONE, KILL, TORN, EIO_ONCE, EIO_FOREVER, NO_SPACE, SHORT, TORN_FIRST, TORN_LAST };

/* The description of a call: the number of sector boundaries inside the range of a write, or one of these. */
enum { OTHER_CALL = -1, SYNC_CALL = -2 };

enum { MAX_CALLS = 1 << 16 };

static enum kind armed;
static long failing_call, calls;
static int is_counting;
static int descriptions[MAX_CALLS];

void fault_start(int kind, long call) {
  armed = (enum kind)kind;
  failing_call = call;
  calls = 0;
  is_counting = 1;
}

long fault_stop(void) {
  is_counting = 0;
  return calls;
}

int fault_call(long call) { return descriptions[call]; }

static int is_torn(void) { return armed == TORN || armed == TORN_FIRST || armed == TORN_LAST; }

/* Returns whether this call gets the fault. Kills the process where the fault is that the call does not happen. */
static int is_failing(int description) {
  if (!is_counting) return 0;
  long call = calls++;
  if (call < MAX_CALLS) descriptions[call] = description;
  int is_hit = call == failing_call || (armed == EIO_FOREVER && call > failing_call);
  if (armed == NONE || !is_hit) return 0;
  if (armed == KILL) raise(SIGKILL);
  return 1;
}

/* Sets errno for a call without data. Returns whether the call fails. */
static int fails_as(int description) {
  if (!is_failing(description)) return 0;
  if (is_torn()) raise(SIGKILL);
  if (armed == SHORT) return 0;
  errno = armed == NO_SPACE ? ENOSPC : EIO;
  return 1;
}

static int fails(void) { return fails_as(OTHER_CALL); }

/* The number of bytes of a write that reach the file before the fault. */
static size_t torn_len(off64_t offset, size_t len) {
  off64_t end = offset + (off64_t)len;
  off64_t first = offset / SECTOR * SECTOR + SECTOR, last = (end - 1) / SECTOR * SECTOR;
  if (armed == TORN_FIRST) return first < end ? (size_t)(first - offset) : 0;
  if (armed == TORN_LAST) return last > offset ? (size_t)(last - offset) : 0;
  /* Half of the bytes, in whole sectors where the write has several. */
  off64_t cut = (offset + (off64_t)(len / 2)) / SECTOR * SECTOR;
  return cut > offset && cut < end ? (size_t)(cut - offset) : len / 2;
}

/* ---- Memory ---- */

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static size_t min_failing_len;
static long allocations_before_failure = -1;

void memory_fail(size_t min_len, long call) {
  min_failing_len = min_len;
  allocations_before_failure = call;
}

void memory_stop(void) { allocations_before_failure = -1; }

/* Returns whether an allocation fails. CALLER is an address in the code that allocates. */
static int has_no_memory(size_t len, const void *caller) {
  Dl_info found;
  if (allocations_before_failure < 0 || len < min_failing_len) return 0;
  if (!dladdr(caller, &found) || !found.dli_fname || !strstr(found.dli_fname, "libblosc2")) return 0;
  if (allocations_before_failure-- > 0) return 0;
  errno = ENOMEM;
  return 1;
}

#define HAS_NO_MEMORY(len) has_no_memory(len, __builtin_return_address(0))

void *malloc(size_t len) { return HAS_NO_MEMORY(len) ? NULL : __libc_malloc(len); }

void *calloc(size_t count, size_t len) { return HAS_NO_MEMORY(count * len) ? NULL : __libc_calloc(count, len); }

void *realloc(void *old, size_t len) { return HAS_NO_MEMORY(len) ? NULL : __libc_realloc(old, len); }

void *aligned_alloc(size_t alignment, size_t len) {
  return HAS_NO_MEMORY(len) ? NULL : __libc_memalign(alignment, len);
}

int posix_memalign(void **place, size_t alignment, size_t len) {
  if (HAS_NO_MEMORY(len)) return ENOMEM;
  void *at = __libc_memalign(alignment, len);
  if (!at) return ENOMEM;
  *place = at;
  return 0;
}

/* ---- Recording ---- */

/* The values are those of tests/durability/recording.rs. */
enum record { WRITE = 1, SET_LEN, CREATE, MAKE_DIR, RENAME, LINK, REMOVE, SYNC_DATA, SYNC, SYNC_ALL, MARK, EXCHANGE };

/* A record in the log; the bytes of both paths and the data follow. */
struct record_header {
  uint32_t record, path_len, target_len, unused;
  uint64_t inode;
  int64_t value;
  uint64_t data_len;
};

static int log_fd = -1;

static int is_recording(void) { return log_fd >= 0; }
static int is_watching(void) { return is_counting || is_recording(); }

static _Noreturn void end(const char *what, const char *name) {
  fprintf(stderr, "fault_injection: %s: %s\n", name, what);
  abort();
}

/* Ends the process if the calls are counted or recorded: the caller changes files in a way that is not covered. */
static void check_uncovered(const char *name) {
  if (is_watching()) end("a change of files that is not covered", name);
}

void record_start(const char *path) {
  log_fd = REAL(openat64)(AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (log_fd < 0) end("cannot be opened", path);
}

void record_stop(void) {
  close(log_fd);
  log_fd = -1;
}

static void append_record(enum record record, uint64_t inode, int64_t value, const char *path, const char *target,
                          const void *data, size_t data_len) {
  if (!is_recording()) return;
  int saved = errno;
  struct record_header header = {.record = record, .inode = inode, .value = value, .data_len = data_len};
  header.path_len = path ? (uint32_t)strlen(path) : 0;
  header.target_len = target ? (uint32_t)strlen(target) : 0;
  struct iovec parts[4] = {{&header, sizeof header},
                           {(void *)path, header.path_len},
                           {(void *)target, header.target_len},
                           {(void *)data, data_len}};
  size_t len = sizeof header + header.path_len + header.target_len + data_len;
  if (REAL(writev)(log_fd, parts, 4) != (ssize_t)len) end("cannot be written", "the log");
  errno = saved;
}

void record_mark(long value) { append_record(MARK, 0, value, NULL, NULL, NULL, 0); }

/* ---- Files ---- */

/* Returns whether calls on the file are counted or recorded. */
static int is_watched(int fd) {
  struct stat found;
  if (!is_watching() || fd == log_fd || fstat(fd, &found) != 0) return 0;
  return S_ISREG(found.st_mode) || S_ISDIR(found.st_mode);
}

static struct stat stat_of(int fd) {
  struct stat found;
  if (fstat(fd, &found) != 0) end("no stat", "a file");
  return found;
}

static uint64_t inode_of(int fd) { return stat_of(fd).st_ino; }

static uint64_t inode_at(const char *path) {
  struct stat found;
  return lstat(path, &found) == 0 ? found.st_ino : 0;
}

/* Stores the absolute path of a directory entry, without links in the part before its name. */
static const char *full_path(int dirfd, const char *path, char full[PATH_MAX]) {
  char joined[2 * PATH_MAX + 64], directory[PATH_MAX];
  if (path[0] == '/' || dirfd == AT_FDCWD) {
    snprintf(joined, sizeof joined, "%s%s", path[0] == '/' ? "" : "./", path);
  } else {
    snprintf(joined, sizeof joined, "/proc/self/fd/%d/%s", dirfd, path);
  }
  size_t len = strlen(joined);
  while (len > 1 && joined[len - 1] == '/') joined[--len] = 0;
  char *name = strrchr(joined, '/');
  *name++ = 0;
  if (!realpath(joined[0] ? joined : "/", directory)) return NULL;
  if (strlen(directory) + strlen(name) + 2 > PATH_MAX) return NULL;
  stpcpy(stpcpy(stpcpy(full, directory), "/"), name);
  return full;
}

static void append_path_record(enum record record, int dirfd, const char *path, const char *target) {
  char full[PATH_MAX];
  if (!is_recording()) return;
  const char *found = full_path(dirfd, path, full);
  if (!found) end("the path cannot be resolved", path);
  append_record(record, inode_at(target ? target : found), 0, found, target, NULL, 0);
}

static off64_t position_of(int fd) {
  if (fcntl(fd, F_GETFL) & O_APPEND) return stat_of(fd).st_size;
  return lseek64(fd, 0, SEEK_CUR);
}

/* ---- Writes ---- */

static size_t len_of(const struct iovec *parts, int count) {
  size_t len = 0;
  for (int i = 0; i < count; i++) len += parts[i].iov_len;
  return len;
}

static void append_write(int fd, off64_t offset, const void *bytes, size_t len) {
  append_record(WRITE, inode_of(fd), offset, NULL, NULL, bytes, len);
  if (fcntl(fd, F_GETFL) & O_DSYNC) append_record(SYNC_DATA, inode_of(fd), 0, NULL, NULL, NULL, 0);
}

/* Writes at a position, or at the position of the file if it is -1. */
static ssize_t write_some(int fd, const void *bytes, size_t len, off64_t offset) {
  return offset < 0 ? REAL(write)(fd, bytes, len) : REAL(pwrite64)(fd, bytes, len, offset);
}

static ssize_t write_parts(int fd, const struct iovec *parts, int count, off64_t offset) {
  if (!is_watched(fd)) {
    return offset < 0 ? REAL(writev)(fd, parts, count) : REAL(pwritev64)(fd, parts, count, offset);
  }
  size_t len = len_of(parts, count), limit = len;
  off64_t at = offset < 0 ? position_of(fd) : offset;
  int boundaries = len > 0 ? (int)((at + (off64_t)len - 1) / SECTOR - at / SECTOR) : 0;
  int is_hit = is_failing(boundaries);
  if (is_hit) {
    limit = is_torn() || armed == SHORT ? torn_len(at, len) : 0;
    errno = armed == EIO_ONCE || armed == EIO_FOREVER ? EIO : ENOSPC;
    if (limit == 0 && !is_torn()) return -1;
  }
  char *joined = malloc(len + 1);
  if (!joined) end("no memory", "a write");
  size_t done = 0;
  for (int i = 0; i < count; i++) {
    if (parts[i].iov_len) memcpy(joined + done, parts[i].iov_base, parts[i].iov_len);
    done += parts[i].iov_len;
  }
  ssize_t written = write_some(fd, joined, limit, offset);
  if (written > 0) append_write(fd, at, joined, (size_t)written);
  free(joined);
  if (is_hit && is_torn()) raise(SIGKILL);
  return written;
}

static ssize_t write_one(int fd, const void *bytes, size_t len, off64_t offset) {
  if (!is_watched(fd)) return write_some(fd, bytes, len, offset);
  struct iovec part = {(void *)bytes, len};
  return write_parts(fd, &part, 1, offset);
}

ssize_t write(int fd, const void *bytes, size_t len) { return write_one(fd, bytes, len, -1); }
ssize_t writev(int fd, const struct iovec *parts, int count) { return write_parts(fd, parts, count, -1); }

/* A negative position is an error, not the position of the file. */
#define CHECK_OFFSET(offset)                                                  \
  if ((offset) < 0) {                                                         \
    errno = EINVAL;                                                           \
    return -1;                                                                \
  }

ssize_t pwrite64(int fd, const void *bytes, size_t len, off64_t offset) {
  CHECK_OFFSET(offset)
  return write_one(fd, bytes, len, offset);
}

ssize_t pwrite(int fd, const void *bytes, size_t len, off_t offset) { return pwrite64(fd, bytes, len, offset); }

ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t offset) {
  CHECK_OFFSET(offset)
  return write_parts(fd, parts, count, offset);
}

ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t offset) {
  return pwritev64(fd, parts, count, offset);
}

ssize_t pwritev64v2(int fd, const struct iovec *parts, int count, off64_t offset, int flags) {
  if (flags != 0 && is_watched(fd)) end("flags that are not covered", "pwritev2");
  if (flags != 0) return REAL(pwritev64v2)(fd, parts, count, offset, flags);
  return write_parts(fd, parts, count, offset);
}

ssize_t pwritev2(int fd, const struct iovec *parts, int count, off_t offset, int flags) {
  return pwritev64v2(fd, parts, count, offset, flags);
}

/* Records bytes that the kernel has copied to the file. */
static ssize_t append_copied(int fd, off64_t offset, ssize_t len) {
  if (len <= 0 || !is_recording() || !is_watched(fd)) return len;
  char name[64], *bytes = malloc((size_t)len);
  snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
  int copy = REAL(openat64)(AT_FDCWD, name, O_RDONLY | O_CLOEXEC);
  if (!bytes || copy < 0 || pread64(copy, bytes, (size_t)len, offset) != len) end("cannot be read", "copied bytes");
  append_write(fd, offset, bytes, (size_t)len);
  close(copy);
  free(bytes);
  return len;
}

ssize_t copy_file_range(int from, off64_t *from_offset, int to, off64_t *to_offset, size_t len, unsigned flags) {
  if (!is_watched(to)) return REAL(copy_file_range)(from, from_offset, to, to_offset, len, flags);
  if (fails()) return -1;
  off64_t at = to_offset ? *to_offset : position_of(to);
  return append_copied(to, at, REAL(copy_file_range)(from, from_offset, to, to_offset, len, flags));
}

ssize_t sendfile64(int to, int from, off64_t *from_offset, size_t len) {
  if (!is_watched(to)) return REAL(sendfile64)(to, from, from_offset, len);
  if (fails()) return -1;
  off64_t at = position_of(to);
  return append_copied(to, at, REAL(sendfile64)(to, from, from_offset, len));
}

ssize_t sendfile(int to, int from, off_t *from_offset, size_t len) {
  off64_t offset = from_offset ? *from_offset : 0;
  ssize_t result = sendfile64(to, from, from_offset ? &offset : NULL, len);
  if (from_offset) *from_offset = (off_t)offset;
  return result;
}

ssize_t splice(int from, off64_t *from_offset, int to, off64_t *to_offset, size_t len, unsigned flags) {
  if (!is_watched(to)) return REAL(splice)(from, from_offset, to, to_offset, len, flags);
  if (fails()) return -1;
  off64_t at = to_offset ? *to_offset : position_of(to);
  return append_copied(to, at, REAL(splice)(from, from_offset, to, to_offset, len, flags));
}

/* ---- Length ---- */

int ftruncate64(int fd, off64_t len) {
  if (!is_watched(fd)) return REAL(ftruncate64)(fd, len);
  if (fails()) return -1;
  int result = REAL(ftruncate64)(fd, len);
  if (result == 0) append_record(SET_LEN, inode_of(fd), len, NULL, NULL, NULL, 0);
  return result;
}

int ftruncate(int fd, off_t len) { return ftruncate64(fd, len); }

int truncate64(const char *path, off64_t len) {
  int fd = REAL(openat64)(AT_FDCWD, path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  int result = ftruncate64(fd, len), saved = errno;
  close(fd);
  errno = saved;
  return result;
}

int truncate(const char *path, off_t len) { return truncate64(path, len); }

/* Records that the file has grown to END bytes, unless it was longer before. */
static void append_growth(int fd, off64_t before, off64_t end) {
  if (before < end) append_record(SET_LEN, inode_of(fd), end, NULL, NULL, NULL, 0);
}

int fallocate64(int fd, int mode, off64_t offset, off64_t len) {
  if (!is_watched(fd)) return REAL(fallocate64)(fd, mode, offset, len);
  if (mode != 0 && mode != FALLOC_FL_KEEP_SIZE) end("a mode that is not covered", "fallocate");
  if (fails()) return -1;
  off64_t before = stat_of(fd).st_size;
  int result = REAL(fallocate64)(fd, mode, offset, len);
  if (result == 0 && mode == 0) append_growth(fd, before, offset + len);
  return result;
}

int fallocate(int fd, int mode, off_t offset, off_t len) { return fallocate64(fd, mode, offset, len); }

int posix_fallocate64(int fd, off64_t offset, off64_t len) {
  if (!is_watched(fd)) return REAL(posix_fallocate64)(fd, offset, len);
  if (fails()) return errno;
  off64_t before = stat_of(fd).st_size;
  int result = REAL(posix_fallocate64)(fd, offset, len);
  if (result == 0) append_growth(fd, before, offset + len);
  return result;
}

int posix_fallocate(int fd, off_t offset, off_t len) { return posix_fallocate64(fd, offset, len); }

/* ---- Opening: creates or truncates ---- */

/* Records the file that was created, or the truncation of a file that had `old_len` bytes (-1: there was none). */
static void append_opened(int fd, int flags, off64_t old_len) {
  char name[64], path[PATH_MAX];
  snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
  ssize_t len = readlink(name, path, sizeof path - 1);
  if (len < 0 || !S_ISREG(stat_of(fd).st_mode)) return;
  path[len] = 0;
  if (old_len < 0) {
    append_record(CREATE, inode_of(fd), 0, path, NULL, NULL, 0);
  } else if (old_len > 0 && (flags & O_TRUNC)) {
    append_record(SET_LEN, inode_of(fd), 0, NULL, NULL, NULL, 0);
  }
}

static int open_at(int dirfd, const char *path, int flags, mode_t mode) {
  int is_unnamed = (flags & O_TMPFILE) == O_TMPFILE;
  int is_change = is_watching() && (is_unnamed || (flags & (O_CREAT | O_TRUNC)));
  struct stat old;
  if (!is_change) return REAL(openat64)(dirfd, path, flags, mode);
  if (is_unnamed) end("a file without a name is not covered", path);
  off64_t old_len = fstatat(dirfd, path, &old, 0) == 0 ? old.st_size : -1;
  if (old_len >= 0 && !S_ISREG(old.st_mode)) return REAL(openat64)(dirfd, path, flags, mode);
  if (fails()) return -1;
  int fd = REAL(openat64)(dirfd, path, flags, mode);
  if (fd >= 0 && is_recording()) append_opened(fd, flags, old_len);
  return fd;
}

/* Defines an opening function: its arguments before the flags, the directory and the path. */
#define OPEN(name, dirfd, ...)                                                \
  int name(__VA_ARGS__, int flags, ...) {                                     \
    mode_t mode = 0;                                                          \
    if ((flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE) {              \
      va_list arguments;                                                      \
      va_start(arguments, flags);                                             \
      mode = va_arg(arguments, mode_t);                                       \
      va_end(arguments);                                                      \
    }                                                                         \
    return open_at(dirfd, path, flags, mode);                                 \
  }

OPEN(open, AT_FDCWD, const char *path)
OPEN(open64, AT_FDCWD, const char *path)
OPEN(openat, dirfd, int dirfd, const char *path)
OPEN(openat64, dirfd, int dirfd, const char *path)

int creat64(const char *path, mode_t mode) { return open_at(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode); }
int creat(const char *path, mode_t mode) { return creat64(path, mode); }

/* ---- Directories ---- */

int mkdirat(int dirfd, const char *path, mode_t mode) {
  if (is_watching() && fails()) return -1;
  int result = REAL(mkdirat)(dirfd, path, mode);
  if (result == 0) append_path_record(MAKE_DIR, dirfd, path, NULL);
  return result;
}

int mkdir(const char *path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }

int renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned flags) {
  if (!is_watching()) return REAL(renameat2)(from_dir, from, to_dir, to, flags);
  if (flags & ~(RENAME_NOREPLACE | RENAME_EXCHANGE)) end("flags that are not covered", "renameat2");
  if (fails()) return -1;
  /* The function without flags works on every kernel. */
  int result = flags ? REAL(renameat2)(from_dir, from, to_dir, to, flags) : REAL(renameat)(from_dir, from, to_dir, to);
  if (result == 0) {
    char target[PATH_MAX];
    if (!full_path(to_dir, to, target)) end("the path cannot be resolved", to);
    append_path_record(flags & RENAME_EXCHANGE ? EXCHANGE : RENAME, from_dir, from, target);
  }
  return result;
}

int renameat(int from_dir, const char *from, int to_dir, const char *to) {
  if (!is_watching()) return REAL(renameat)(from_dir, from, to_dir, to);
  return renameat2(from_dir, from, to_dir, to, 0);
}

int rename(const char *from, const char *to) { return renameat(AT_FDCWD, from, AT_FDCWD, to); }

int linkat(int from_dir, const char *from, int to_dir, const char *to, int flags) {
  if (is_watching() && fails()) return -1;
  int result = REAL(linkat)(from_dir, from, to_dir, to, flags);
  if (result == 0) append_path_record(LINK, to_dir, to, NULL);
  return result;
}

int link(const char *from, const char *to) { return linkat(AT_FDCWD, from, AT_FDCWD, to, 0); }

int unlinkat(int dirfd, const char *path, int flags) {
  if (is_watching() && fails()) return -1;
  int result = REAL(unlinkat)(dirfd, path, flags);
  if (result == 0) append_path_record(REMOVE, dirfd, path, NULL);
  return result;
}

int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }
int rmdir(const char *path) { return unlinkat(AT_FDCWD, path, AT_REMOVEDIR); }

int remove(const char *path) {
  struct stat found;
  return lstat(path, &found) == 0 && S_ISDIR(found.st_mode) ? rmdir(path) : unlink(path);
}

/* ---- Permissions and owners: calls that can fail, but change no bytes ---- */

int fchmod(int fd, mode_t mode) { return is_watched(fd) && fails() ? -1 : REAL(fchmod)(fd, mode); }
int chmod(const char *path, mode_t mode) { return is_watching() && fails() ? -1 : REAL(chmod)(path, mode); }
int fchown(int fd, uid_t user, gid_t group) { return is_watched(fd) && fails() ? -1 : REAL(fchown)(fd, user, group); }

/* ---- Synchronising: fails or is recorded, and does nothing else, which keeps the tests fast ---- */

static int synchronise(int fd, enum record record) {
  if (fcntl(fd, F_GETFD) < 0) return -1;
  if (!is_watched(fd)) return 0;
  if (fails_as(SYNC_CALL)) return -1;
  append_record(record, inode_of(fd), 0, NULL, NULL, NULL, 0);
  return 0;
}

int fsync(int fd) { return synchronise(fd, SYNC); }
int fdatasync(int fd) { return synchronise(fd, SYNC_DATA); }
int syncfs(int fd) { return synchronise(fd, SYNC_ALL); }

void sync(void) {
  if (is_watching() && !fails_as(SYNC_CALL)) append_record(SYNC_ALL, 0, 0, NULL, NULL, NULL, 0);
}

/* Promises nothing about a power cut, so that it is not recorded. */
int sync_file_range(int fd, off64_t offset, off64_t len, unsigned flags) {
  return is_watched(fd) && fails() ? -1 : REAL(sync_file_range)(fd, offset, len, flags);
}

/* ---- Changes that are not covered ---- */

int msync(void *address, size_t len, int flags) {
  check_uncovered("msync");
  return REAL(msync)(address, len, flags);
}

void *mmap64(void *address, size_t len, int protection, int flags, int fd, off64_t offset) {
  int is_shared = (flags & MAP_TYPE) == MAP_SHARED || (flags & MAP_TYPE) == MAP_SHARED_VALIDATE;
  if (is_shared && (protection & PROT_WRITE) && !(flags & MAP_ANONYMOUS) && is_watched(fd)) check_uncovered("mmap");
  return REAL(mmap64)(address, len, protection, flags, fd, offset);
}

void *mmap(void *address, size_t len, int protection, int flags, int fd, off_t offset) {
  return mmap64(address, len, protection, flags, fd, offset);
}

FILE *fopen64(const char *path, const char *mode) {
  if (strpbrk(mode, "wa+")) check_uncovered("fopen");
  return REAL(fopen64)(path, mode);
}

FILE *fopen(const char *path, const char *mode) { return fopen64(path, mode); }

int symlink(const char *target, const char *path) {
  check_uncovered("symlink");
  return REAL(symlink)(target, path);
}

int mkostemp64(char *path, int flags) {
  check_uncovered("mkostemp");
  return REAL(mkostemp64)(path, flags);
}

int mkostemp(char *path, int flags) { return mkostemp64(path, flags); }
int mkstemp64(char *path) { return mkostemp64(path, 0); }
int mkstemp(char *path) { return mkostemp64(path, 0); }

/* System calls that change or synchronise files. */
static const long changing_syscalls[] = {
#ifdef SYS_open
    SYS_open, SYS_creat, SYS_rename, SYS_link, SYS_symlink, SYS_unlink, SYS_mkdir, SYS_rmdir,
#endif
#ifdef SYS_renameat
    SYS_renameat,
#endif
#ifdef SYS_openat2
    SYS_openat2,
#endif
#ifdef SYS_io_uring_setup
    SYS_io_uring_setup,
#endif
    SYS_write, SYS_writev, SYS_pwrite64, SYS_pwritev, SYS_pwritev2, SYS_ftruncate, SYS_truncate, SYS_fallocate,
    SYS_copy_file_range, SYS_sendfile, SYS_splice, SYS_openat, SYS_mkdirat, SYS_linkat, SYS_symlinkat,
    SYS_unlinkat, SYS_fsync, SYS_fdatasync, SYS_syncfs, SYS_sync, SYS_sync_file_range, SYS_msync, SYS_io_submit};

long syscall(long number, ...) {
  static long (*real)(long, ...);
  if (!real) real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
  for (size_t i = 0; is_watching() && i < sizeof changing_syscalls / sizeof changing_syscalls[0]; i++) {
    if (number == changing_syscalls[i]) check_uncovered("syscall");
  }
  va_list arguments;
  va_start(arguments, number);
  long values[6];
  for (int i = 0; i < 6; i++) values[i] = va_arg(arguments, long);
  va_end(arguments);
  if (number == SYS_renameat2) {
    return renameat2((int)values[0], (const char *)values[1], (int)values[2], (const char *)values[3], (unsigned)values[4]);
  }
  return real(number, values[0], values[1], values[2], values[3], values[4], values[5]);
}
