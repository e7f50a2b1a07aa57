/* MPI 4.1 chapter 11: processes of a job are those that it was started with; ports and names connect groups of it. */
#include "check.h"
static int handled, handled_class;
static void on_error(MPI_Comm *c, int *code, ...) { (void)c; handled++; MPI_Error_class(*code, &handled_class); }
int main(int argc, char **argv) {
  MPI_Comm c, d, half; int codes[3] = {-1, -1, -1}, n, x, y, flag, *universe; char port[MPI_MAX_PORT_NAME], other[MPI_MAX_PORT_NAME]; MPI_Errhandler eh; MPI_Info infos[2] = {MPI_INFO_NULL, MPI_INFO_NULL};
  begin(&argc, &argv);
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
    MPI_Comm_free(&half);
  }
  return finish();
}
