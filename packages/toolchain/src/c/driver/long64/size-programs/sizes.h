/* Macros that are used with several types, and a function in a header. */
#define SUBTRACT(a, b) ((long)((a) - (b)))
#define TWICE_IN_LONG(n) (2L * (n))
#define STORE(to, a, b) to = a - b
#define ROOM (2 * sizeof(double))
#define LEFT(n) (long)(n - ROOM)
#define HALF(x) ((x) / 2)
