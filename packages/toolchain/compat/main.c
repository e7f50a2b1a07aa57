/*
 * Calls a main() that clang hands to the linker as it stands: one with the environment as its third parameter, or with one parameter. The
 * driver says how many it has (src/c/driver/link.ts).
 */
#include <wasi/libc-environ.h>

#if MAYFLY_MAIN_PARAMETERS == 3
int mayfly_program(int, char **, char **) __asm__("main");
int main(int argc, char **argv) { return mayfly_program(argc, argv, __wasilibc_get_environ()); }
#else
int mayfly_program(int) __asm__("main");
int main(int argc, char **argv) { (void)argv; return mayfly_program(argc); }
#endif
