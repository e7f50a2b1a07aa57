/* MPI 4.1 chapter 11 (and the tool information interface of 15.3): where nothing can be spawned the answer is MPI_ERR_SPAWN; ports and names connect groups of a job. */
#include "check.h"
static int handled, handled_class;
static void on_error(MPI_Comm *c, int *code, ...) { (void)c; handled++; MPI_Error_class(*code, &handled_class); }
#ifdef __wasm__
/* Variables by name, as "names of variables … may differ between implementations" these are Mayfly's own. */
static void tool_interface(void) {
  int n, i, k, kind, len, ro, cont, at_, verb, bind, scope, count, level, a[8]; char name[64]; MPI_Datatype t; MPI_T_enum e; MPI_T_cvar_handle c; MPI_T_pvar_session s, s2; MPI_T_pvar_handle sent, bytes, queued; unsigned long long v, w;
  CHECK(MPI_T_cvar_get_num(&n) == MPI_T_ERR_NOT_INITIALIZED && MPI_T_finalize() == MPI_T_ERR_NOT_INITIALIZED);
  CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &level) == MPI_SUCCESS && MPI_T_init_thread(MPI_THREAD_SINGLE, &level) == MPI_SUCCESS && MPI_T_finalize() == MPI_SUCCESS); /* "as often as" it was initialized */
  /* Control variables: "If the variable is constant, MPI_T_CVAR_WRITE" says so */
  CHECK(MPI_T_cvar_get_num(&n) == MPI_SUCCESS && n > 0); CHECK(MPI_T_cvar_get_index("bcast_long_bytes", &i) == MPI_SUCCESS && i < n && MPI_T_cvar_get_index("nothing", &k) == MPI_T_ERR_INVALID_NAME);
  len = 0; MPI_T_cvar_get_info(i, name, &len, &verb, &t, &e, NULL, NULL, &bind, &scope); CHECK(len == 17 && t == MPI_UNSIGNED_LONG_LONG && e == MPI_T_ENUM_NULL && bind == MPI_T_BIND_NO_OBJECT && scope == MPI_T_SCOPE_CONSTANT);
  len = 6; MPI_T_cvar_get_info(i, name, &len, NULL, NULL, NULL, NULL, NULL, NULL, NULL); CHECK(!strcmp(name, "bcast") && len == 17); CHECK(MPI_T_cvar_get_info(n, name, &len, NULL, NULL, NULL, NULL, NULL, NULL, NULL) == MPI_T_ERR_INVALID_INDEX);
  CHECK(MPI_T_cvar_handle_alloc(i, NULL, &c, &count) == MPI_SUCCESS && count == 1 && MPI_T_cvar_read(c, &v) == MPI_SUCCESS && v == 131072 && MPI_T_cvar_write(c, &v) == MPI_T_ERR_CVAR_SET_NEVER);
  CHECK(MPI_T_cvar_handle_free(&c) == MPI_SUCCESS && c == MPI_T_CVAR_HANDLE_NULL && MPI_T_cvar_read(c, &v) == MPI_T_ERR_INVALID_HANDLE);
  /* Performance variables: "isolated" in sessions; counters count between start and stop */
  MPI_T_pvar_session_create(&s); MPI_T_pvar_session_create(&s2); CHECK(MPI_T_pvar_get_index("messages_sent", MPI_T_PVAR_CLASS_COUNTER, &i) == MPI_SUCCESS && MPI_T_pvar_get_index("messages_sent", MPI_T_PVAR_CLASS_LEVEL, &k) == MPI_T_ERR_INVALID_NAME);
  len = 64; MPI_T_pvar_get_info(i, name, &len, &verb, &kind, &t, &e, NULL, NULL, &bind, &ro, &cont, &at_); CHECK(!strcmp(name, "messages_sent") && kind == MPI_T_PVAR_CLASS_COUNTER && !ro && !cont);
  MPI_T_pvar_handle_alloc(s, i, NULL, &sent, &count); MPI_T_pvar_get_index("bytes_sent", MPI_T_PVAR_CLASS_AGGREGATE, &i); MPI_T_pvar_handle_alloc(s, i, NULL, &bytes, &count); MPI_T_pvar_get_index("unexpected_messages", MPI_T_PVAR_CLASS_LEVEL, &i); MPI_T_pvar_handle_alloc(s, i, NULL, &queued, &count);
  int next = (rank_ + 1) % size_, x[5] = {0};
  MPI_Send(x, 5, MPI_INT, next, 50, MPI_COMM_WORLD); MPI_T_pvar_read(s, sent, &v); CHECK(v == 0); /* not started */
  MPI_T_pvar_start(s, MPI_T_PVAR_ALL_HANDLES); for (k = 0; k < 3; k++) MPI_Send(x, 5, MPI_INT, next, 50, MPI_COMM_WORLD); MPI_T_pvar_read(s, sent, &v); MPI_T_pvar_read(s, bytes, &w); CHECK(v == 3 && w == 60);
  MPI_T_pvar_stop(s, sent); MPI_Send(x, 5, MPI_INT, next, 51, MPI_COMM_WORLD); MPI_T_pvar_read(s, sent, &v); MPI_T_pvar_readreset(s, bytes, &w); CHECK(v == 3 && w == 80); MPI_T_pvar_read(s, bytes, &w); CHECK(w == 0);
  v = 100; MPI_T_pvar_write(s, sent, &v); MPI_T_pvar_start(s, sent); MPI_Send(x, 0, MPI_INT, next, 50, MPI_COMM_WORLD); MPI_T_pvar_read(s, sent, &v); CHECK(v == 101); MPI_T_pvar_reset(s, sent); MPI_T_pvar_read(s, sent, &v); CHECK(v == 0);
  MPI_Recv(x, 5, MPI_INT, MPI_ANY_SOURCE, 51, MPI_COMM_WORLD, MPI_STATUS_IGNORE); MPI_T_pvar_read(s, queued, &v); CHECK(v >= 4); for (k = 0; k < 5; k++) MPI_Recv(x, 5, MPI_INT, MPI_ANY_SOURCE, 50, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK(MPI_T_pvar_start(s, queued) == MPI_T_ERR_PVAR_NO_STARTSTOP && MPI_T_pvar_reset(s, queued) == MPI_T_ERR_PVAR_NO_WRITE && MPI_T_pvar_read(s2, queued, &v) == MPI_T_ERR_INVALID_HANDLE && MPI_T_pvar_read(s, MPI_T_PVAR_ALL_HANDLES, &v) == MPI_T_ERR_INVALID_HANDLE);
  MPI_T_pvar_get_index("images_taken", MPI_T_PVAR_CLASS_LEVEL, &i); MPI_T_pvar_handle_free(s, &queued); CHECK(queued == MPI_T_PVAR_HANDLE_NULL); MPI_T_pvar_handle_alloc(s2, i, NULL, &queued, &count); MPI_T_pvar_read(s2, queued, &v); CHECK(v < 1000000);
  MPI_T_pvar_get_index("incarnation", MPI_T_PVAR_CLASS_LEVEL, &i); MPI_T_pvar_handle_alloc(s2, i, NULL, &sent, &count); MPI_T_pvar_read(s2, sent, &v); MPI_Barrier(MPI_COMM_WORLD); MPI_T_pvar_read(s2, sent, &w); CHECK(v <= w && w < 1000000);
  MPI_T_pvar_session_free(&s2); CHECK(s2 == MPI_T_PVAR_SESSION_NULL && MPI_T_pvar_read(s2, queued, &v) == MPI_T_ERR_INVALID_SESSION);
  /* Categories; no events */
  int cvars, pvars, cats; MPI_T_category_get_num(&n); CHECK(n == 3 && MPI_T_category_get_index("messages", &i) == MPI_SUCCESS); len = 64; MPI_T_category_get_info(i, name, &len, NULL, NULL, &cvars, &pvars, &cats); CHECK(cvars == 1 && pvars == 6 && cats == 0);
  MPI_T_category_get_pvars(i, 8, a); CHECK(a[0] == 0 && a[5] == 5); MPI_T_category_get_cvars(i, 8, a); CHECK(a[0] == 0); MPI_T_event_get_num(&n); CHECK(n == 0); MPI_T_source_get_num(&n); CHECK(n == 0); CHECK(MPI_T_category_get_info(3, NULL, NULL, NULL, NULL, NULL, NULL, NULL) == MPI_T_ERR_INVALID_INDEX);
  CHECK(MPI_T_finalize() == MPI_SUCCESS && MPI_T_pvar_get_num(&n) == MPI_T_ERR_NOT_INITIALIZED);
}
/* "the connection attempt will eventually time out … MPI_COMM_CONNECT raises an error of class MPI_ERR_PORT" (§11.9.3); the key is MPICH's. */
static void connect_in_time(void) {
  MPI_Info info; MPI_Comm c; char port[MPI_MAX_PORT_NAME]; const char *times[3] = {"0", "0.02", "0.3"}; int k, x, y, n;
  MPI_Info_create(&info); MPI_Open_port(MPI_INFO_NULL, port);
  for (k = 0; k < 3; k++) { MPI_Info_set(info, "timeout", times[k]); c = MPI_COMM_WORLD; CHECK(class_of(MPI_Comm_connect(port, info, 0, MPI_COMM_SELF, &c)) == MPI_ERR_PORT && c == MPI_COMM_NULL); }
  MPI_Info_set(info, "timeout", "soon"); CHECK(class_of(MPI_Comm_connect(port, info, 0, MPI_COMM_SELF, &c)) == MPI_ERR_INFO_VALUE);
  if (size_ > 1) {
    /* All processes of the group hear of it; the port stays open, and an accept behind it meets the next connect, not the one that has gone. */
    MPI_Comm half; MPI_Comm_split(MPI_COMM_WORLD, rank_ == 0, 0, &half); MPI_Comm_set_errhandler(half, MPI_ERRORS_RETURN); MPI_Comm_size(half, &n);
    if (rank_ == 0) { MPI_Send(port, MPI_MAX_PORT_NAME, MPI_CHAR, 1, 60, MPI_COMM_WORLD); MPI_Recv(&x, 1, MPI_INT, 1, 61, MPI_COMM_WORLD, MPI_STATUS_IGNORE); CHECK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, &c) == MPI_SUCCESS); }
    else {
      char at[MPI_MAX_PORT_NAME]; if (rank_ == 1) MPI_Recv(at, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 60, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Info_set(info, "timeout", "0.1"); for (k = 0; k < 2; k++) CHECK(class_of(MPI_Comm_connect(at, info, 0, half, &c)) == MPI_ERR_PORT);
      x = 1; if (rank_ == 1) MPI_Send(&x, 1, MPI_INT, 0, 61, MPI_COMM_WORLD);
      CHECK(MPI_Comm_connect(at, MPI_INFO_NULL, 0, half, &c) == MPI_SUCCESS);
    }
    x = rank_; MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, c); MPI_Comm_remote_size(c, &k); CHECK(rank_ == 0 ? y == size_ * (size_ - 1) / 2 && k == size_ - 1 : y == 0 && k == 1 && n == size_ - 1);
    MPI_Comm_disconnect(&c); MPI_Comm_free(&half);
  }
  MPI_Close_port(port); MPI_Info_free(&info);
}
#endif
int main(int argc, char **argv) {
  MPI_Comm c, d, half; int codes[3] = {-1, -1, -1}, n, x, y, flag, *universe; char port[MPI_MAX_PORT_NAME], other[MPI_MAX_PORT_NAME]; MPI_Errhandler eh; MPI_Info infos[2] = {MPI_INFO_NULL, MPI_INFO_NULL};
  begin(&argc, &argv);
#ifdef __wasm__
  tool_interface();
#endif
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  /* "MPI_ERR_SPAWN … could not be started", at every process, and the handler of the communicator hears of it */
  MPI_Comm_create_errhandler(on_error, &eh); MPI_Comm_set_errhandler(MPI_COMM_WORLD, eh); c = MPI_COMM_WORLD;
  CHECK(class_of(MPI_Comm_spawn("a.out", MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &c, codes)) == MPI_ERR_SPAWN && handled == 1 && handled_class == MPI_ERR_SPAWN && c == MPI_COMM_NULL);
  CHECK(rank_ != 0 || (class_of(codes[0]) == MPI_ERR_SPAWN && class_of(codes[1]) == MPI_ERR_SPAWN && codes[2] == -1));
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); MPI_Errhandler_free(&eh);
  char *commands[2] = {"a", "b"}; int most[2] = {1, 2};
  CHECK(class_of(MPI_Comm_spawn_multiple(2, commands, MPI_ARGVS_NULL, most, infos, size_ - 1, MPI_COMM_WORLD, &c, codes)) == MPI_ERR_SPAWN && (rank_ != size_ - 1 || class_of(codes[2]) == MPI_ERR_SPAWN));
  CHECK(class_of(MPI_Comm_spawn("a.out", MPI_ARGV_NULL, 1, MPI_INFO_NULL, size_, MPI_COMM_WORLD, &c, MPI_ERRCODES_IGNORE)) == MPI_ERR_ROOT);
  MPI_Comm_get_parent(&c); CHECK(c == MPI_COMM_NULL); /* "If the process was not spawned, MPI_COMM_GET_PARENT returns MPI_COMM_NULL" */
  CHECK(MPI_Comm_join(0, &c) == MPI_SUCCESS && c == MPI_COMM_NULL); /* "… not supporting Berkeley Sockets … should return MPI_COMM_NULL" */
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &universe, &flag); CHECK(flag && *universe == size_);
  /* Errors of ports and names, without a communicator: MPI_COMM_SELF's handler */
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  CHECK(class_of(MPI_Lookup_name("nobody", MPI_INFO_NULL, port)) == MPI_ERR_NAME && class_of(MPI_Unpublish_name("nobody", MPI_INFO_NULL, "x")) == MPI_ERR_SERVICE && class_of(MPI_Close_port("x")) == MPI_ERR_PORT);
  CHECK(class_of(MPI_Comm_connect("no such port", MPI_INFO_NULL, 0, MPI_COMM_SELF, &c)) == MPI_ERR_PORT);
#ifdef __wasm__
  connect_in_time();
#endif
  MPI_Barrier(MPI_COMM_WORLD);
  if (size_ > 1) {
    /* Server: all but the last process and, if there are more than two, the last but one; its root publishes a name, which the clients poll for */
    int client = rank_ >= size_ - (size_ > 2 ? 2 : 1); MPI_Comm_split(MPI_COMM_WORLD, client, -rank_, &half); int p, q, r; MPI_Comm_size(half, &p); MPI_Comm_rank(half, &r); q = size_ - p;
    for (int round = 0; round < 2; round++) {
      if (!client) {
        if (r == p - 1) { MPI_Open_port(MPI_INFO_NULL, port); MPI_Open_port(MPI_INFO_NULL, other); CHECK(strcmp(port, other)); CHECK(MPI_Publish_name("service", MPI_INFO_NULL, port) == MPI_SUCCESS && class_of(MPI_Publish_name("service", MPI_INFO_NULL, other)) == MPI_ERR_SERVICE); }
        CHECK(MPI_Comm_accept(port, MPI_INFO_NULL, p - 1, half, &c) == MPI_SUCCESS);
      } else {
        if (r == 0) while (MPI_Lookup_name("service", MPI_INFO_NULL, port) != MPI_SUCCESS);
        CHECK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, &c) == MPI_SUCCESS);
      }
      MPI_Comm_test_inter(c, &flag); MPI_Comm_remote_size(c, &n); CHECK(flag && n == q); x = rank_; MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, c);
      int all = size_ * (size_ - 1) / 2, mine; MPI_Allreduce(&x, &mine, 1, MPI_INT, MPI_SUM, half); CHECK(y == all - mine);
      MPI_Intercomm_merge(c, client, &d); MPI_Comm_size(d, &n); CHECK(n == size_); MPI_Comm_disconnect(&d); MPI_Comm_disconnect(&c); CHECK(c == MPI_COMM_NULL);
      if (!client && r == p - 1) { MPI_Close_port(other); CHECK(class_of(MPI_Close_port(other)) == MPI_ERR_PORT); MPI_Unpublish_name("service", MPI_INFO_NULL, port); MPI_Close_port(port); }
      /* "If the named port does not exist (or has been closed), MPI_COMM_CONNECT raises an error of class MPI_ERR_PORT", at all processes */
      MPI_Barrier(MPI_COMM_WORLD);
      if (client) { MPI_Comm_set_errhandler(half, MPI_ERRORS_RETURN); CHECK(class_of(MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, &c)) == MPI_ERR_PORT); CHECK(r != 0 || class_of(MPI_Lookup_name("service", MPI_INFO_NULL, other)) == MPI_ERR_NAME); }
      else { MPI_Comm_set_errhandler(half, MPI_ERRORS_RETURN); CHECK(class_of(MPI_Comm_accept(port, MPI_INFO_NULL, p - 1, half, &c)) == MPI_ERR_PORT); }
      MPI_Barrier(MPI_COMM_WORLD);
    }
    /* Nor does anybody wait for a port whose process has left MPI without closing it: the last process knocks while the first one finalizes, and again. */
    if (rank_ == 0) { MPI_Open_port(MPI_INFO_NULL, port); MPI_Send(port, MPI_MAX_PORT_NAME, MPI_CHAR, size_ - 1, 0, MPI_COMM_WORLD); }
    if (rank_ == size_ - 1) {
      MPI_Recv(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      for (n = 0; n < 2; n++) CHECK(class_of(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &c)) == MPI_ERR_PORT);
    }
    MPI_Comm_free(&half);
  }
  return finish();
}
