/* Writes and reads files of ADIOS 1.13 whose variables Blosc 1 has compressed: for blosc1-adios.sh.
   `adios_files write DIRECTORY` writes a file for each codec, shuffle, level, type and shape; `adios_files read DIRECTORY` compares the
   content of each with what it wrote. Prints the number of files. */

#define _NOMPI 1
#include <adios.h>
#include <adios_read.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITEMS = 24 * 30 * 32, TYPES = 3, SHAPES = 2 };

static const char *const CODECS[] = {"blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"};
static const char *const SHUFFLES[] = {"no", "byte", "bit"};
static const char *const LEVELS[] = {"1", "9"};
static const char *const SHAPES_OF_ITEMS[] = {"23040", "24,30,32"};
static const enum ADIOS_DATATYPES TYPES_OF_ITEMS[] = {adios_double, adios_real, adios_short};

static const void *content(int type, int seed) {
  static double doubles[ITEMS];
  static float floats[ITEMS];
  static short shorts[ITEMS];
  for (int i = 0; i < ITEMS; i++) {
    int value = (i / 7) * 3 % 1000 + seed;
    doubles[i] = value / 8.0;
    floats[i] = (float)value / 4.0f;
    shorts[i] = (short)value;
  }
  return type == 0 ? (const void *)doubles : type == 1 ? (const void *)floats : (const void *)shorts;
}

static const size_t ITEM_BYTES[] = {sizeof(double), sizeof(float), sizeof(short)};

static void check(int is_right, const char *what, const char *path) {
  if (!is_right) {
    fprintf(stderr, "%s: %s: %s\n", path, what, adios_errmsg());
    exit(1);
  }
}

static void write_file(const char *path, const char *transform, int type, const char *shape, const void *items) {
  int64_t group;
  int64_t file;
  check(adios_init_noxml(0) == 0, "init", path);
  adios_set_max_buffer_size(10);
  check(adios_declare_group(&group, "group", "", adios_stat_no) == 0, "declare_group", path);
  check(adios_select_method(group, "POSIX", "", "") == 0, "select_method", path);
  int64_t variable = adios_define_var(group, "items", "", TYPES_OF_ITEMS[type], shape, "", "");
  check(variable != 0, "define_var", path);
  check(adios_set_transform(variable, transform) == 0, "set_transform", path);
  check(adios_open(&file, "group", path, "w", 0) == 0, "open", path);
  check(adios_write(file, "items", items) == 0, "write", path);
  check(adios_close(file) == 0, "close", path);
  check(adios_finalize(0) == 0, "finalize", path);
}

static void read_file(const char *path, int type, const void *items) {
  static double found[ITEMS];
  memset(found, 0xAA, sizeof found);
  ADIOS_FILE *file = adios_read_open_file(path, ADIOS_READ_METHOD_BP, 0);
  check(file != NULL, "read_open_file", path);
  ADIOS_SELECTION *block = adios_selection_writeblock(0);
  check(adios_schedule_read(file, block, "items", 0, 1, found) == 0, "schedule_read", path);
  check(adios_perform_reads(file, 1) == 0, "perform_reads", path);
  check(memcmp(found, items, ITEMS * ITEM_BYTES[type]) == 0, "other content", path);
  adios_selection_delete(block);
  adios_read_close(file);
}

int main(int argc, char **argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: %s write|read DIRECTORY\n", argv[0]);
    return 2;
  }
  int writes = strcmp(argv[1], "write") == 0;
  int files = 0;
  if (!writes) adios_read_init_method(ADIOS_READ_METHOD_BP, 0, "verbose=1");
  for (int codec = 0; codec < 6; codec++)
    for (int shuffle = 0; shuffle < 3; shuffle++)
      for (int level = 0; level < 2; level++)
        for (int type = 0; type < TYPES; type++)
          for (int shape = 0; shape < SHAPES; shape++) {
            char path[1000];
            char transform[200];
            const void *items = content(type, files);
            snprintf(path, sizeof path, "%s/%s-%s-%s-%d-%d.bp", argv[2], CODECS[codec], SHUFFLES[shuffle], LEVELS[level], type, shape);
            snprintf(transform, sizeof transform, "blosc:compressor=%s,shuffle=%s,lvl=%s,threshold=100", CODECS[codec], SHUFFLES[shuffle],
                     LEVELS[level]);
            if (writes)
              write_file(path, transform, type, SHAPES_OF_ITEMS[shape], items);
            else
              read_file(path, type, items);
            files++;
          }
  printf("%d\n", files);
  return 0;
}
