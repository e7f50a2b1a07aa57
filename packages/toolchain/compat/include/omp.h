/* OpenMP for a rank, which has one thread: the pragmas are ignored and the library answers for a team of one. */
#ifndef MAYFLY_OMP_H
#define MAYFLY_OMP_H
#ifdef __cplusplus
extern "C" {
#endif
typedef struct { int held; } omp_lock_t;
typedef struct { int held; } omp_nest_lock_t;
typedef enum { omp_sched_static = 1, omp_sched_dynamic, omp_sched_guided, omp_sched_auto } omp_sched_t;
static __inline int omp_get_thread_num(void) { return 0; }
static __inline int omp_get_num_threads(void) { return 1; }
static __inline int omp_get_max_threads(void) { return 1; }
static __inline int omp_get_num_procs(void) { return 1; }
static __inline int omp_get_thread_limit(void) { return 1; }
static __inline int omp_get_level(void) { return 0; }
static __inline int omp_get_max_active_levels(void) { return 1; }
static __inline int omp_in_parallel(void) { return 0; }
static __inline int omp_get_dynamic(void) { return 0; }
static __inline int omp_get_nested(void) { return 0; }
static __inline void omp_set_num_threads(int n) { (void)n; }
static __inline void omp_set_dynamic(int on) { (void)on; }
static __inline void omp_set_nested(int on) { (void)on; }
static __inline void omp_set_schedule(omp_sched_t kind, int chunk) { (void)kind; (void)chunk; }
static __inline void omp_init_lock(omp_lock_t *l) { l->held = 0; }
static __inline void omp_destroy_lock(omp_lock_t *l) { (void)l; }
static __inline void omp_set_lock(omp_lock_t *l) { l->held = 1; }
static __inline void omp_unset_lock(omp_lock_t *l) { l->held = 0; }
static __inline int omp_test_lock(omp_lock_t *l) { return l->held ? 0 : (l->held = 1); }
static __inline void omp_init_nest_lock(omp_nest_lock_t *l) { l->held = 0; }
static __inline void omp_destroy_nest_lock(omp_nest_lock_t *l) { (void)l; }
static __inline void omp_set_nest_lock(omp_nest_lock_t *l) { l->held++; }
static __inline void omp_unset_nest_lock(omp_nest_lock_t *l) { l->held--; }
static __inline int omp_test_nest_lock(omp_nest_lock_t *l) { return ++l->held; }
double omp_get_wtime(void);
static __inline double omp_get_wtick(void) { return 1e-3; }
#ifdef __cplusplus
}
#endif
#endif
