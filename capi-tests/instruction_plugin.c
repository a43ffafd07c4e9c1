/*
 * A plugin of QEMU that counts the instructions of an emulated program between two marks: system calls with numbers that no
 * system has. At the end mark it writes the count and a line feed to stdout.
 *
 *     cc -shared -fPIC instruction_plugin.c -o plugin.so && qemu-aarch64 -plugin ./plugin.so PROGRAM
 *
 * The declarations are those of version 1 of QEMU's plugin interface (QEMU 4.2 to 8.2), whose header Debian has no package of.
 */

#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "instruction_marks.h"

typedef uint64_t plugin_id;
struct qemu_plugin_tb;

void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id id, void (*call)(plugin_id, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *block, void (*call)(unsigned, void *), int flags, void *data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
void qemu_plugin_register_vcpu_syscall_cb(plugin_id id,
                                          void (*call)(plugin_id, unsigned, int64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                                                       uint64_t, uint64_t, uint64_t, uint64_t));

#define EXPORTED __attribute__((visibility("default")))

EXPORTED int qemu_plugin_version = 1;

static uint64_t executed, at_start;

static void add_block(unsigned cpu, void *instructions) {
  (void)cpu;
  executed += (uintptr_t)instructions;
}

static void translate(plugin_id id, struct qemu_plugin_tb *block) {
  (void)id;
  /* 0: the callback reads no registers. */
  qemu_plugin_register_vcpu_tb_exec_cb(block, add_block, 0, (void *)(uintptr_t)qemu_plugin_tb_n_insns(block));
}

static void see_system_call(plugin_id id, unsigned cpu, int64_t number, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
                            uint64_t e, uint64_t f, uint64_t g, uint64_t h) {
  (void)id, (void)cpu, (void)a, (void)b, (void)c, (void)d, (void)e, (void)f, (void)g, (void)h;
  if (number == START_MARK) at_start = executed;
  if (number == END_MARK) {
    printf("%" PRIu64 "\n", executed - at_start);
    fflush(stdout);
  }
}

EXPORTED int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv) {
  (void)info, (void)argc, (void)argv;
  qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
  qemu_plugin_register_vcpu_syscall_cb(id, see_system_call);
  return 0;
}
