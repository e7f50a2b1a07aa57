/* glibc's error(). */
#ifndef MAYFLY_ERROR_H
#define MAYFLY_ERROR_H
#ifdef __cplusplus
extern "C" {
#endif
void error(int, int, const char *, ...) __attribute__((format(printf, 3, 4)));
#ifdef __cplusplus
}
#endif
#endif
