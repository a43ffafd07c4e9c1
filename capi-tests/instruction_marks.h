/* The numbers of the system calls that mark the instructions to be counted (instruction_plugin.c). No system has them. */

enum { START_MARK = 5000001, END_MARK = 5000002 };
