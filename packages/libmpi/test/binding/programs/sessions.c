/* MPI 4.1 §11.3 (sessions), beside and without the World Model. */
#include "check.h"
static int handled; static MPI_Session handled_session;
static void on_error(MPI_Session *s, int *code, ...) { (void)code; handled++; handled_session = *s; }
static int info_int(MPI_Info i, const char *key) { char v[64]; int flag, n = 64; MPI_Info_get_string(i, key, &n, v, &flag); return flag ? atoi(v) : -1; }
int main(int argc, char **argv) {
  MPI_Session s, t; MPI_Info info; MPI_Group g, self, h; MPI_Comm c, d, inter; MPI_Errhandler eh, was; int n, r, flag, len, x, y; char name[MPI_MAX_PSET_NAME_LEN]; (void)begin;
  /* "MPI can be initialized using the Sessions Model … without MPI_INIT" */
  MPI_Initialized(&flag); CHECK(!flag);
  MPI_Info_create(&info);
#ifdef __wasm__ /* MPICH 4.0.2 takes it */
  MPI_Info_set(info, "thread_level", "none"); CHECK(MPI_Session_init(info, MPI_ERRORS_RETURN, &s) != MPI_SUCCESS);
#endif
  MPI_Info_set(info, "thread_level", "MPI_THREAD_SINGLE"); CHECK(MPI_Session_init(info, MPI_ERRORS_RETURN, &s) == MPI_SUCCESS && s != MPI_SESSION_NULL); MPI_Info_free(&info);
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &t); CHECK(s != t); /* "may be called multiple times" */
  MPI_Session_get_info(s, &info); char level[64]; len = 64; MPI_Info_get_string(info, "thread_level", &len, level, &flag); CHECK(flag); MPI_Info_free(&info);
#ifdef __wasm__
  CHECK(!strcmp(level, "MPI_THREAD_SINGLE"));
  MPI_Session_get_info(t, &info); len = 64; MPI_Info_get_string(info, "thread_level", &len, level, &flag); CHECK(flag && !strcmp(level, "MPI_THREAD_MULTIPLE")); MPI_Info_free(&info);
  len = 64; MPI_Info_get_string(MPI_INFO_ENV, "thread_level", &len, level, &flag); CHECK(flag && !strcmp(level, "MPI_THREAD_MULTIPLE"));
#endif
  MPI_Session_get_num_psets(s, MPI_INFO_NULL, &n); CHECK(n >= 2);
  int world = 0, me = 0;
  for (int i = 0; i < n; i++) { len = 0; MPI_Session_get_nth_pset(s, MPI_INFO_NULL, i, &len, name); CHECK(len > 1 && len < MPI_MAX_PSET_NAME_LEN); MPI_Session_get_nth_pset(s, MPI_INFO_NULL, i, &len, name); CHECK((int)strlen(name) == len - 1); world += !strcmp(name, "mpi://WORLD"); me += !strcmp(name, "mpi://SELF"); }
  CHECK(world == 1 && me == 1);
  len = 5; MPI_Session_get_nth_pset(s, MPI_INFO_NULL, 0, &len, name); CHECK(strlen(name) == 4); /* "truncated" */
#ifdef __wasm__ /* MPICH 4.0.2 asks no session's error handler before MPI_Init */
  CHECK(MPI_Group_from_session_pset(s, "mpi://world", &g) == MPI_SUCCESS); MPI_Group_free(&g);
  CHECK(class_of(MPI_Session_get_nth_pset(s, MPI_INFO_NULL, n + 7, &len, name)) == MPI_ERR_ARG);
  CHECK(class_of(MPI_Group_from_session_pset(s, "mpi://NONE", &g)) == MPI_ERR_ARG && g == MPI_GROUP_NULL);
#endif
  MPI_Group_from_session_pset(s, "mpi://WORLD", &g); MPI_Group_from_session_pset(t, "mpi://SELF", &self); MPI_Group_size(g, &size_); MPI_Group_rank(g, &rank_); MPI_Group_size(self, &n); CHECK(n == 1);
  MPI_Session_get_pset_info(s, "mpi://WORLD", &info); CHECK(info_int(info, "mpi_size") == size_); MPI_Info_free(&info);
  /* A communicator from a group: "it must be called by all processes in the group", with the same string */
  MPI_Comm_create_from_group(g, "org.example.all", MPI_INFO_NULL, MPI_ERRORS_RETURN, &c); MPI_Comm_rank(c, &r); MPI_Comm_size(c, &n); CHECK(r == rank_ && n == size_);
  MPI_Allreduce(&rank_, &x, 1, MPI_INT, MPI_SUM, c); CHECK(x == size_ * (size_ - 1) / 2); CHECK(class_of(MPI_Send(&x, 1, MPI_INT, size_, 0, c)) == MPI_ERR_RANK);
  int *ub; MPI_Comm_get_attr(c, MPI_TAG_UB, &ub, &flag); CHECK(flag && *ub >= 32767);
  MPI_Comm_create_from_group(self, "org.example.self", MPI_INFO_NULL, MPI_ERRORS_RETURN, &d); MPI_Comm_size(d, &n); CHECK(n == 1); MPI_Comm_free(&d);
  /* Two of the same group and string one after the other do not mix; parts of it */
  int ranges[1][3] = {{0, size_ - 1, 2}}; MPI_Group_range_incl(g, 1, ranges, &h); MPI_Comm_create_from_group(g, "org.example.all", MPI_INFO_NULL, MPI_ERRORS_RETURN, &d);
  x = 1; y = 0; MPI_Request q; MPI_Irecv(&y, 1, MPI_INT, (rank_ + size_ - 1) % size_, 0, d, &q); MPI_Send(&x, 1, MPI_INT, (rank_ + 1) % size_, 0, c); x = 2; MPI_Send(&x, 1, MPI_INT, (rank_ + 1) % size_, 0, d);
  MPI_Wait(&q, MPI_STATUS_IGNORE); CHECK(y == 2); MPI_Recv(&y, 1, MPI_INT, MPI_ANY_SOURCE, 0, c, MPI_STATUS_IGNORE); CHECK(y == 1); MPI_Comm_free(&d);
  if (rank_ % 2 == 0) { MPI_Comm_create_from_group(h, "even", MPI_INFO_NULL, MPI_ERRORS_RETURN, &d); MPI_Comm_size(d, &n); CHECK(n == (size_ + 1) / 2); MPI_Barrier(d); MPI_Comm_free(&d); }
  /* "MPI_INTERCOMM_CREATE_FROM_GROUPS": leaders need no peer communicator */
  if (size_ > 1) { MPI_Group odd; MPI_Group_difference(g, h, &odd); int even = rank_ % 2 == 0;
    MPI_Intercomm_create_from_groups(even ? h : odd, 0, even ? odd : h, 0, "org.example.between", MPI_INFO_NULL, MPI_ERRORS_RETURN, &inter);
    MPI_Comm_test_inter(inter, &flag); MPI_Comm_remote_size(inter, &n); CHECK(flag && n == (even ? size_ / 2 : (size_ + 1) / 2)); x = 1; MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, inter); CHECK(y == n); MPI_Comm_free(&inter); MPI_Group_free(&odd); }
#ifdef __wasm__ /* of MPI 4.1, newer than the MPICH at hand */
  { static char buf[1000]; char *was_; int bytes; CHECK(class_of(MPI_Bsend(&x, 1, MPI_INT, rank_, 9, c)) == MPI_ERR_BUFFER); MPI_Session_attach_buffer(s, buf, 1000); CHECK(class_of(MPI_Session_attach_buffer(s, buf, 1000)) == MPI_ERR_BUFFER);
    x = 7; MPI_Bsend(&x, 1, MPI_INT, rank_, 9, c); x = 0; MPI_Session_flush_buffer(s); MPI_Recv(&y, 1, MPI_INT, rank_, 9, c, MPI_STATUS_IGNORE); CHECK(y == 7); MPI_Session_iflush_buffer(s, &q); MPI_Wait(&q, MPI_STATUS_IGNORE); MPI_Session_detach_buffer(s, &was_, &bytes); CHECK(was_ == buf && bytes == 1000); }
  /* Error handlers: the session's for its calls, the given one for a making */
  MPI_Session_create_errhandler(on_error, &eh); MPI_Session_set_errhandler(t, eh); MPI_Session_get_errhandler(t, &was); CHECK(was == eh); CHECK(class_of(MPI_Group_from_session_pset(t, "x", &h)) == MPI_ERR_ARG && handled == 1 && handled_session == t); MPI_Session_call_errhandler(t, MPI_ERR_OTHER); CHECK(handled == 2);
  CHECK(class_of(MPI_Comm_create_from_group(MPI_GROUP_NULL, "x", MPI_INFO_NULL, MPI_ERRORS_RETURN, &d)) == MPI_ERR_GROUP);
  { char longer[MPI_MAX_STRINGTAG_LEN + 2]; memset(longer, 'a', sizeof longer); longer[sizeof longer - 1] = 0; CHECK(class_of(MPI_Comm_create_from_group(g, longer, MPI_INFO_NULL, MPI_ERRORS_RETURN, &d)) == MPI_ERR_ARG); }
  MPI_Comm_create_from_group(MPI_GROUP_EMPTY, "x", MPI_INFO_NULL, MPI_ERRORS_RETURN, &d); CHECK(d == MPI_COMM_NULL);
  MPI_Errhandler_free(&eh);
#else
  (void)eh; (void)was; (void)on_error; (void)handled; (void)handled_session;
#endif
  if (h != MPI_GROUP_NULL) MPI_Group_free(&h);
  MPI_Session_finalize(&t); CHECK(t == MPI_SESSION_NULL);
  /* The World Model beside it: it begins and ends once, the session goes on */
  MPI_Initialized(&flag); CHECK(!flag); MPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &r); CHECK(r == rank_); MPI_Barrier(MPI_COMM_WORLD); MPI_Finalize(); MPI_Finalized(&flag); CHECK(flag);
  x = 1; MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, c); CHECK(y == size_);
  MPI_Group_free(&g); MPI_Group_free(&self); MPI_Comm_disconnect(&c); CHECK(c == MPI_COMM_NULL); MPI_Session_finalize(&s);
#ifdef __wasm__
  /* "after MPI_FINALIZE" too, again and again */
  for (int i = 0; i < 2; i++) { MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s); MPI_Group_from_session_pset(s, "mpi://WORLD", &g); MPI_Comm_create_from_group(g, "again", MPI_INFO_NULL, MPI_ERRORS_RETURN, &c); MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, c); CHECK(y == size_); MPI_Group_free(&g); MPI_Comm_free(&c); MPI_Session_finalize(&s); }
#endif
  if (failures_) printf("%d: %d of %d checks failed\n", rank_, failures_, checks_);
  else printf("%d: ok\n", rank_);
  return failures_ != 0;
}
