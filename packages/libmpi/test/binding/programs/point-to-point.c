/* MPI 4.1 chapter 3. */
#include "check.h"
int main(int argc, char **argv) {
  MPI_Status st; MPI_Request r[8]; int i, n, flag;
  begin(&argc, &argv);
  int right = (rank_ + 1) % size_, left = (rank_ + size_ - 1) % size_;
  /* "Messages are non-overtaking" (3.5) */
  int a = rank_, b = rank_ + 100, x = -1, y = -1;
  MPI_Send(&a, 1, MPI_INT, right, 1, MPI_COMM_WORLD);
  MPI_Send(&b, 1, MPI_INT, right, 1, MPI_COMM_WORLD);
  MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &st);
  CHECK(x == left && st.MPI_SOURCE == left && st.MPI_TAG == 1);
  MPI_Get_count(&st, MPI_INT, &n); CHECK(n == 1);
  MPI_Get_count(&st, MPI_DOUBLE, &n); CHECK(n == MPI_UNDEFINED);
  MPI_Recv(&y, 1, MPI_INT, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); CHECK(y == left + 100);
  /* Probe and Iprobe, a message shorter than its buffer (3.8) */
  char text[40];
  MPI_Send("hello", 6, MPI_CHAR, right, 2, MPI_COMM_WORLD);
  MPI_Probe(left, 2, MPI_COMM_WORLD, &st); MPI_Get_count(&st, MPI_CHAR, &n); CHECK(n == 6);
  do MPI_Iprobe(MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &flag, &st); while (!flag);
  MPI_Recv(text, 40, MPI_CHAR, left, 2, MPI_COMM_WORLD, &st); CHECK(!strcmp(text, "hello"));
  MPI_Iprobe(MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &flag, &st); CHECK(!flag);
  /* Non-blocking, waited for in every way (3.7) */
  int in[4] = {-1, -1, -1, -1}, idx, idxs[8], out;
  for (i = 0; i < 4; i++) MPI_Irecv(&in[i], 1, MPI_INT, left, 10 + i, MPI_COMM_WORLD, &r[i]);
  int vals[4] = {rank_ * 10, rank_ * 10 + 1, rank_ * 10 + 2, rank_ * 10 + 3};
  for (i = 0; i < 4; i++) MPI_Isend(&vals[i], 1, MPI_INT, right, 10 + i, MPI_COMM_WORLD, &r[4 + i]);
  MPI_Wait(&r[2], &st); CHECK(in[2] == left * 10 + 2 && st.MPI_TAG == 12 && r[2] == MPI_REQUEST_NULL);
  MPI_Waitany(2, r, &idx, &st); CHECK(idx == 0 || idx == 1); CHECK(in[idx] == left * 10 + idx);
  MPI_Status sts[8];
  MPI_Waitall(8, r, sts);
  for (i = 0; i < 4; i++) CHECK(in[i] == left * 10 + i);
  for (i = 0; i < 8; i++) CHECK(r[i] == MPI_REQUEST_NULL);
  MPI_Waitany(8, r, &idx, &st); CHECK(idx == MPI_UNDEFINED);
  MPI_Waitsome(8, r, &out, idxs, sts); CHECK(out == MPI_UNDEFINED);
  MPI_Testall(8, r, &flag, sts); CHECK(flag);
  MPI_Irecv(&x, 1, MPI_INT, left, 20, MPI_COMM_WORLD, &r[0]);
  MPI_Issend(&a, 1, MPI_INT, right, 20, MPI_COMM_WORLD, &r[1]);
  int left_ = 2;
  while (left_) { MPI_Testsome(2, r, &out, idxs, sts); if (out != MPI_UNDEFINED) left_ -= out; }
  CHECK(x == left);
  MPI_Irecv(&x, 1, MPI_INT, left, 21, MPI_COMM_WORLD, &r[0]);
  MPI_Ssend(&b, 1, MPI_INT, right, 21, MPI_COMM_WORLD);
  do MPI_Request_get_status(r[0], &flag, &st); while (!flag);
  CHECK(x == left + 100 && r[0] != MPI_REQUEST_NULL);
  do MPI_Test(&r[0], &flag, &st); while (!flag);
  CHECK(r[0] == MPI_REQUEST_NULL);
  /* Sendrecv (3.10), with itself too */
  MPI_Sendrecv(&a, 1, MPI_INT, right, 3, &x, 1, MPI_INT, left, 3, MPI_COMM_WORLD, &st); CHECK(x == left);
  x = rank_ * 7;
  MPI_Sendrecv_replace(&x, 1, MPI_INT, left, 4, right, 4, MPI_COMM_WORLD, &st); CHECK(x == right * 7);
  MPI_Sendrecv(&a, 1, MPI_INT, rank_, 5, &y, 1, MPI_INT, rank_, 5, MPI_COMM_SELF == MPI_COMM_NULL ? MPI_COMM_NULL : MPI_COMM_WORLD, &st); CHECK(y == a);
  /* "A communication with process MPI_PROC_NULL has no effect" (3.11) */
  x = 42;
  MPI_Recv(&x, 1, MPI_INT, MPI_PROC_NULL, 9, MPI_COMM_WORLD, &st);
  MPI_Get_count(&st, MPI_INT, &n);
  CHECK(x == 42 && st.MPI_SOURCE == MPI_PROC_NULL && st.MPI_TAG == MPI_ANY_TAG && n == 0);
  MPI_Send(&x, 1, MPI_INT, MPI_PROC_NULL, 9, MPI_COMM_WORLD);
  /* Buffered mode (3.6) */
  int size; char *buf; MPI_Pack_size(4, MPI_INT, MPI_COMM_WORLD, &size); size += MPI_BSEND_OVERHEAD; buf = malloc(size);
  MPI_Buffer_attach(buf, size);
  MPI_Bsend(vals, 4, MPI_INT, right, 30, MPI_COMM_WORLD);
  MPI_Recv(in, 4, MPI_INT, left, 30, MPI_COMM_WORLD, &st); CHECK(in[3] == left * 10 + 3);
  char *back; int backsize; MPI_Buffer_detach(&back, &backsize); CHECK(back == buf && backsize == size);
  /* Persistent requests (3.9) */
  MPI_Recv_init(&x, 1, MPI_INT, left, 40, MPI_COMM_WORLD, &r[0]);
  MPI_Send_init(&a, 1, MPI_INT, right, 40, MPI_COMM_WORLD, &r[1]);
  MPI_Ssend_init(&b, 1, MPI_INT, right, 41, MPI_COMM_WORLD, &r[2]);
  MPI_Recv_init(&y, 1, MPI_INT, left, 41, MPI_COMM_WORLD, &r[3]);
  for (i = 0; i < 3; i++) {
    a = rank_ + i; x = y = -1;
    MPI_Startall(4, r);
    MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
    CHECK(x == left + i && y == left + 100 && r[0] != MPI_REQUEST_NULL);
  }
  for (i = 0; i < 4; i++) MPI_Request_free(&r[i]);
  CHECK(r[3] == MPI_REQUEST_NULL);
  /* Cancel of a receive (3.8.4) */
  MPI_Irecv(&x, 1, MPI_INT, left, 50, MPI_COMM_WORLD, &r[0]);
  MPI_Cancel(&r[0]); MPI_Wait(&r[0], &st); MPI_Test_cancelled(&st, &flag); CHECK(flag);
  /* Matched probe (3.8.2) */
  MPI_Message m;
  MPI_Send(&a, 1, MPI_INT, right, 60, MPI_COMM_WORLD);
  MPI_Mprobe(left, 60, MPI_COMM_WORLD, &m, &st);
  MPI_Iprobe(left, 60, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE); CHECK(!flag);
  MPI_Mrecv(&x, 1, MPI_INT, &m, &st); CHECK(x == left + 2 && m == MPI_MESSAGE_NULL && st.MPI_SOURCE == left);
  MPI_Mprobe(MPI_PROC_NULL, 60, MPI_COMM_WORLD, &m, &st); CHECK(m == MPI_MESSAGE_NO_PROC);
  MPI_Mrecv(&x, 1, MPI_INT, &m, &st); CHECK(st.MPI_SOURCE == MPI_PROC_NULL);
  /* Zero bytes, and long messages (bodies that wait in the log) */
  MPI_Sendrecv(NULL, 0, MPI_INT, right, 70, NULL, 0, MPI_INT, left, 70, MPI_COMM_WORLD, &st);
  enum { LONG = 200000 };
  double *big = malloc(LONG * sizeof *big), *got = malloc(LONG * sizeof *got);
  for (i = 0; i < LONG; i++) big[i] = rank_ + i * 0.5;
  MPI_Isend(big, LONG, MPI_DOUBLE, right, 71, MPI_COMM_WORLD, &r[0]);
  MPI_Send(&a, 1, MPI_INT, right, 72, MPI_COMM_WORLD);
  MPI_Recv(&x, 1, MPI_INT, left, 72, MPI_COMM_WORLD, &st);
  MPI_Recv(got, LONG, MPI_DOUBLE, left, 71, MPI_COMM_WORLD, &st);
  MPI_Wait(&r[0], MPI_STATUS_IGNORE);
  CHECK(got[0] == left && got[LONG - 1] == left + (LONG - 1) * 0.5);
  MPI_Get_count(&st, MPI_DOUBLE, &n); CHECK(n == LONG);
  /* Non-blocking with itself and generalized completion order */
  MPI_Isendrecv(&a, 1, MPI_INT, right, 80, &x, 1, MPI_INT, left, 80, MPI_COMM_WORLD, &r[0]); MPI_Wait(&r[0], &st); CHECK(x == left + 2);
  MPI_Sendrecv(NULL, 0, MPI_DATATYPE_NULL, rank_, 1, NULL, 0, MPI_DATATYPE_NULL, rank_, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  /* Erroneous on partitioned operations (§3.8.4, §4.2): to cancel one, and to free a send that misses partitions; it is as before then */
  {
  MPI_Request ps, pr; int cells[4] = {1, 2, 3, 4}, into[4] = {0}; MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Psend_init(cells, 2, 2, MPI_INT, 0, 3, MPI_COMM_SELF, MPI_INFO_NULL, &ps); MPI_Precv_init(into, 2, 2, MPI_INT, 0, 3, MPI_COMM_SELF, MPI_INFO_NULL, &pr); MPI_Start(&ps); MPI_Start(&pr); MPI_Pready(0, ps);
  CHECK(class_of(MPI_Cancel(&ps)) == MPI_ERR_REQUEST && class_of(MPI_Cancel(&pr)) == MPI_ERR_REQUEST && class_of(MPI_Request_free(&ps)) == MPI_ERR_REQUEST && ps != MPI_REQUEST_NULL);
  MPI_Pready(1, ps); MPI_Wait(&ps, MPI_STATUS_IGNORE); MPI_Wait(&pr, MPI_STATUS_IGNORE); CHECK(into[0] == 1 && into[3] == 4); CHECK(MPI_Request_free(&ps) == MPI_SUCCESS && MPI_Request_free(&pr) == MPI_SUCCESS);
  }
  return finish();
}
