/* Lets a program that Emscripten 3.1.6 links run the standard library of Rust, which is compiled for Emscripten 3.1.42 or later:
 * `time_t` has 64 bits there, and `struct stat` no padding. To be linked with -Wl,--wrap=NAME for each function NAME. */
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>

struct new_time {
  int64_t seconds;
  long nanoseconds;
};

struct new_stat {
  dev_t device;
  mode_t mode;
  nlink_t link_count;
  uid_t user;
  gid_t group;
  dev_t special_device;
  off_t size;
  blksize_t block_size;
  blkcnt_t block_count;
  struct new_time accessed, modified, changed;
  ino_t number;
};

static struct new_time new_time(struct timespec old) {
  struct new_time time = {old.tv_sec, old.tv_nsec};
  return time;
}

static int convert(int result, const struct stat *old, struct new_stat *found) {
  if (result == 0) {
    *found = (struct new_stat){old->st_dev,
                               old->st_mode,
                               old->st_nlink,
                               old->st_uid,
                               old->st_gid,
                               old->st_rdev,
                               old->st_size,
                               old->st_blksize,
                               old->st_blocks,
                               new_time(old->st_atim),
                               new_time(old->st_mtim),
                               new_time(old->st_ctim),
                               old->st_ino};
  }
  return result;
}

#define WRAP_STAT(name, type)                           \
  int __real_##name(type file, struct stat *found);     \
  int __wrap_##name(type file, struct new_stat *found); \
  int __wrap_##name(type file, struct new_stat *found) { \
    struct stat old;                                    \
    return convert(__real_##name(file, &old), &old, found); \
  }
WRAP_STAT(stat, const char *)
WRAP_STAT(lstat, const char *)
WRAP_STAT(fstat, int)

int __real_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_gettime(clockid_t clock, struct new_time *now);
int __wrap_clock_gettime(clockid_t clock, struct new_time *now) {
  struct timespec old;
  int result = __real_clock_gettime(clock, &old);
  if (result == 0) {
    *now = new_time(old);
  }
  return result;
}

int __real_nanosleep(const struct timespec *pause, struct timespec *rest);
int __wrap_nanosleep(const struct new_time *pause, struct new_time *rest);
int __wrap_nanosleep(const struct new_time *pause, struct new_time *rest) {
  struct timespec old_pause = {(time_t)pause->seconds, pause->nanoseconds}, old_rest = {0, 0};
  int result = __real_nanosleep(&old_pause, &old_rest);
  if (rest != NULL) {
    *rest = new_time(old_rest);
  }
  return result;
}
