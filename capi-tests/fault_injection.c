/* A library for LD_PRELOAD that makes one of the calls fail that change files: tests/durability counts the calls of an
   operation, and repeats the operation once for each call and each kind of fault.

   fault_start(KIND, CALL) arms the fault: call number CALL (from 0) gets it. fault_stop() disarms it and returns the
   number of calls since fault_start. Calls are counted in one thread. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind { NONE, KILL, TORN, EIO_ONCE, EIO_FOREVER, NO_SPACE, SHORT };

static enum kind armed;
static long failing_call, calls;
static int counts;

void fault_start(int kind, long call) {
  armed = (enum kind)kind;
  failing_call = call;
  calls = 0;
  counts = 1;
}

long fault_stop(void) {
  counts = 0;
  return calls;
}

/* Returns whether this call gets the fault. Kills the process where the fault is that the call does not happen. */
static int is_failing(void) {
  if (!counts) return 0;
  long call = calls++;
  int is_hit = call == failing_call || (armed == EIO_FOREVER && call > failing_call);
  if (armed == NONE || !is_hit) return 0;
  if (armed == KILL) raise(SIGKILL);
  return 1;
}

/* Sets errno for a call without data. Returns whether the call fails. */
static int fails(void) {
  if (!is_failing()) return 0;
  if (armed == TORN) raise(SIGKILL);
  if (armed == SHORT) return 0;
  errno = armed == NO_SPACE ? ENOSPC : EIO;
  return 1;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static ssize_t write_at(int fd, const void *bytes, size_t len, off64_t offset) {
  return REAL(pwrite64)(fd, bytes, len, offset);
}

/* A write that gets the fault: half of it, in whole sectors of the file where it has several, reaches the file. */
static ssize_t failing_write(int fd, const void *bytes, size_t len, off64_t offset) {
  if (armed == TORN || armed == SHORT) {
    size_t half = len / 2;
    size_t cut = (size_t)((offset + (off64_t)half) / 512 * 512 - offset);
    if (offset + (off64_t)half > offset && cut > 0 && cut < len) half = cut;
    if (half > 0) write_at(fd, bytes, half, offset);
    if (armed == TORN) raise(SIGKILL);
    if (half > 0) return (ssize_t)half;
    errno = ENOSPC;
    return -1;
  }
  errno = armed == NO_SPACE ? ENOSPC : EIO;
  return -1;
}

ssize_t pwrite64(int fd, const void *bytes, size_t len, off64_t offset) {
  if (is_failing()) return failing_write(fd, bytes, len, offset);
  return REAL(pwrite64)(fd, bytes, len, offset);
}

ssize_t pwrite(int fd, const void *bytes, size_t len, off_t offset) { return pwrite64(fd, bytes, len, offset); }

ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t offset) {
  if (!is_failing()) return REAL(pwritev)(fd, parts, count, offset);
  static char joined[1 << 22];
  size_t len = 0;
  for (int i = 0; i < count && len + parts[i].iov_len <= sizeof joined; i++) {
    memcpy(joined + len, parts[i].iov_base, parts[i].iov_len);
    len += parts[i].iov_len;
  }
  return failing_write(fd, joined, len, offset);
}

int ftruncate64(int fd, off64_t len) { return fails() ? -1 : REAL(ftruncate64)(fd, len); }
int ftruncate(int fd, off_t len) { return ftruncate64(fd, len); }
int rename(const char *from, const char *to) { return fails() ? -1 : REAL(rename)(from, to); }
int unlink(const char *path) { return fails() ? -1 : REAL(unlink)(path); }
int remove(const char *path) { return fails() ? -1 : REAL(remove)(path); }
int mkdir(const char *path, mode_t mode) { return fails() ? -1 : REAL(mkdir)(path, mode); }
int fsync(int fd) { return fails() ? -1 : REAL(fsync)(fd); }
int fdatasync(int fd) { return fails() ? -1 : REAL(fdatasync)(fd); }

int open64(const char *path, int flags, ...) {
  mode_t mode = 0;
  if (flags & (O_CREAT | O_TMPFILE)) {
    va_list arguments;
    va_start(arguments, flags);
    mode = va_arg(arguments, mode_t);
    va_end(arguments);
    if ((flags & O_CREAT) && fails()) return -1;
  }
  return REAL(open64)(path, flags, mode);
}
