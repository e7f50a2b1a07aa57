/* As in glibc. */
#include <sys/statfs.h>
