/* wasi-libc's, with the question for the size of a terminal, which ioctl() refuses: there is none. */
#include_next <sys/ioctl.h>
#ifndef MAYFLY_SYS_IOCTL_H
#define MAYFLY_SYS_IOCTL_H
#ifndef TIOCGWINSZ
#define TIOCGWINSZ 0x5413
struct winsize { unsigned short ws_row, ws_col, ws_xpixel, ws_ypixel; };
#endif
#endif
