#ifndef STATS_H
#define STATS_H
#ifdef __cplusplus
extern "C"
#endif
double stats_sum(const double *values, int count);
#endif
