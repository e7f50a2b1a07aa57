/* Point to point (MPI 4.1 chapter 3): modes, matching, probes, truncation, null processes. ranks: 1 2 3 7 | 13 */
#include "check.h"

TEST(send_recv_ring, 1, "§3.2.1: MPI_SEND ... the message data is sent to the process dest with the specified tag") {
  int out = value(rank, 0), in = -1;
  MPI_Status s;
  MPI_Request r;
  MPI_Isend(&out, 1, MPI_INT, right, TAG, WORLD, &r);
  MPI_Recv(&in, 1, MPI_INT, left, TAG, WORLD, &s);
  MPI_Wait(&r, NOSTATUS);
  CHECK(in == value(left, 0) && s.MPI_SOURCE == left && s.MPI_TAG == TAG && count_of(&s, MPI_INT) == 1);
  SAY("%d from %d", in, s.MPI_SOURCE);
}
TEST(zero_length, 2, "§3.2.2: The message data part ... count may be zero, in which case the data part of the message is empty") {
  int x = 5;
  MPI_Status s;
  if (rank == 0) MPI_Send(NULL, 0, MPI_INT, 1, TAG, WORLD);
  if (rank == 1) {
    MPI_Recv(&x, 1, MPI_INT, 0, TAG, WORLD, &s);
    CHECK(x == 5 && count_of(&s, MPI_INT) == 0);
  }
}
TEST(shorter_message, 2, "§3.2.4: The length of the received message must be less than or equal to the length of the receive buffer") {
  int a[8];
  MPI_Status s;
  memset(a, -1, sizeof a);
  if (rank == 0) {
    fill(a, 3, 0);
    MPI_Send(a, 3, MPI_INT, 1, TAG, WORLD);
  }
  if (rank == 1) {
    MPI_Recv(a, 8, MPI_INT, 0, TAG, WORLD, &s);
    CHECK(filled(a, 3, 0) && all(a + 3, 5, -1) && count_of(&s, MPI_INT) == 3);
  }
}
TEST(truncation, 2, "§3.2.4: An overflow error occurs if all incoming data does not fit, without truncation, into the receive buffer") {
  int a[4] = {9, 9, 9, 9};
  MPI_Status s;
  if (rank == 0) {
    MPI_Send(a, 4, MPI_INT, 1, TAG, WORLD);
    MPI_Send(a, 1, MPI_INT, 1, TAG, WORLD);
  }
  if (rank == 1) {
    int b[4] = {-1, -1, -1, -1};
    errors_return(1);
    CHECK(class_of(MPI_Recv(b, 2, MPI_INT, 0, TAG, WORLD, &s)) == MPI_ERR_TRUNCATE);
    CHECK(b[2] == -1 && b[3] == -1);
    CHECK(MPI_Recv(b, 1, MPI_INT, 0, TAG, WORLD, &s) == MPI_SUCCESS && b[0] == 9);
    errors_return(0);
  }
}
TEST(any_source, 2, "§3.2.4: The receiver may specify a wildcard MPI_ANY_SOURCE value for source") {
  if (rank == 0) {
    int seen = 0;
    for (int i = 1; i < size; i++) {
      int x;
      MPI_Status s;
      MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, TAG, WORLD, &s);
      CHECK(x == value(s.MPI_SOURCE, 1));
      seen |= 1 << s.MPI_SOURCE;
    }
    CHECK(seen == (1 << size) - 2);
  } else {
    int x = value(rank, 1);
    MPI_Send(&x, 1, MPI_INT, 0, TAG, WORLD);
  }
}
TEST(any_tag, 2, "§3.2.4: ... and/or a wildcard MPI_ANY_TAG value for tag, indicating that any source and/or tag are acceptable") {
  int x = 1;
  MPI_Status s;
  if (rank == 0)
    for (int i = 3; i > 0; i--) MPI_Send(&x, 1, MPI_INT, 1, TAG + i, WORLD);
  if (rank == 1)
    for (int i = 3; i > 0; i--) {
      MPI_Recv(&x, 1, MPI_INT, 0, MPI_ANY_TAG, WORLD, &s);
      CHECK(s.MPI_TAG == TAG + i);
    }
}
TEST(tag_selects, 2, "§3.2.4: A message can be received by a receive operation if its envelope matches the source, tag and comm values") {
  int x = 0;
  if (rank == 0)
    for (int i = 0; i < 4; i++) MPI_Send(&i, 1, MPI_INT, 1, TAG + i, WORLD);
  if (rank == 1)
    for (int i = 3; i >= 0; i--) {
      MPI_Recv(&x, 1, MPI_INT, 0, TAG + i, WORLD, NOSTATUS);
      CHECK(x == i);
    }
}
TEST(non_overtaking, 2, "§3.5: If a sender sends two messages in succession to the same destination, and both match the same receive, then this operation cannot receive the second message if the first one is still pending") {
  int x = -1;
  if (rank == 0)
    for (int i = 0; i < 50; i++) MPI_Send(&i, 1, MPI_INT, 1, TAG, WORLD);
  if (rank == 1)
    for (int i = 0; i < 50; i++) {
      MPI_Recv(&x, 1, MPI_INT, i % 2 ? MPI_ANY_SOURCE : 0, i % 3 ? MPI_ANY_TAG : TAG, WORLD, NOSTATUS);
      CHECK(x == i);
    }
}
TEST(receives_in_order, 2, "§3.5: If a receiver posts two receives in succession, and both match the same message, then the second receive operation cannot be satisfied by this message, if the first one is still pending") {
  int x[10], go = 0;
  MPI_Request r[10];
  if (rank == 1) {
    for (int i = 0; i < 10; i++) MPI_Irecv(&x[i], 1, MPI_INT, i % 2 ? 0 : MPI_ANY_SOURCE, i % 3 ? TAG : MPI_ANY_TAG, WORLD, &r[i]);
    MPI_Send(&go, 1, MPI_INT, 0, TAG + 1, WORLD);
    MPI_Waitall(10, r, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 10; i++) CHECK(x[i] == i);
  }
  if (rank == 0) {
    MPI_Recv(&go, 1, MPI_INT, 1, TAG + 1, WORLD, NOSTATUS);
    for (int i = 0; i < 10; i++) MPI_Send(&i, 1, MPI_INT, 1, TAG, WORLD);
  }
}
TEST(communicators_separate, 2, "§3.2.3: A message is always received within the context it was sent; messages sent in different contexts do not interfere") {
  MPI_Comm other;
  int x = -1;
  MPI_Comm_dup(WORLD, &other);
  if (rank == 0) {
    int a = 1, b = 2;
    MPI_Send(&a, 1, MPI_INT, 1, TAG, WORLD);
    MPI_Send(&b, 1, MPI_INT, 1, TAG, other);
  }
  if (rank == 1) {
    MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, other, NOSTATUS);
    CHECK(x == 2);
    MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, NOSTATUS);
    CHECK(x == 1);
  }
  MPI_Comm_free(&other);
}
TEST(to_self, 1, "§3.2.4: Source = destination is allowed, that is, a process can send a message to itself") {
  int x = 42, y = 0;
  MPI_Request r;
  MPI_Irecv(&y, 1, MPI_INT, rank, TAG, WORLD, &r);
  MPI_Send(&x, 1, MPI_INT, rank, TAG, WORLD);
  MPI_Wait(&r, NOSTATUS);
  CHECK(y == 42);
}
TEST(comm_self, 1, "§7.4.1: MPI_COMM_SELF includes only the process itself") {
  int x = 7, y = 0, n, me;
  MPI_Comm_size(MPI_COMM_SELF, &n);
  MPI_Comm_rank(MPI_COMM_SELF, &me);
  MPI_Sendrecv(&x, 1, MPI_INT, 0, TAG, &y, 1, MPI_INT, 0, TAG, MPI_COMM_SELF, NOSTATUS);
  CHECK(n == 1 && me == 0 && y == 7);
}
TEST(ssend_waits, 2, "§3.4: a synchronous send completes only if a matching receive is posted, and the receive operation has started") {
  int x = 3, flag = -1;
  MPI_Request r;
  if (rank == 0) {
    MPI_Issend(&x, 1, MPI_INT, 1, TAG, WORLD, &r);
    for (int i = 0; i < 5; i++) {
      MPI_Test(&r, &flag, NOSTATUS);
      CHECK(flag == 0);
    }
    MPI_Send(&x, 1, MPI_INT, 1, TAG + 1, WORLD);
    MPI_Wait(&r, NOSTATUS);
    CHECK(r == MPI_REQUEST_NULL);
  }
  if (rank == 1) {
    MPI_Recv(&x, 1, MPI_INT, 0, TAG + 1, WORLD, NOSTATUS);
    MPI_Recv(&x, 1, MPI_INT, 0, TAG, WORLD, NOSTATUS);
    CHECK(x == 3);
  }
}
TEST(ssend_blocking, 2, "§3.4: a send that uses the synchronous mode can be started whether or not a matching receive was posted") {
  int x = rank;
  if (rank == 0) MPI_Ssend(&x, 1, MPI_INT, 1, TAG, WORLD);
  if (rank == 1) {
    MPI_Recv(&x, 1, MPI_INT, 0, TAG, WORLD, NOSTATUS);
    CHECK(x == 0);
  }
}
TEST(rsend, 2, "§3.4: A send that uses the ready communication mode may be started only if the matching receive is already posted") {
  int x = 11, go = 0;
  MPI_Request r;
  if (rank == 1) {
    MPI_Irecv(&x, 1, MPI_INT, 0, TAG, WORLD, &r);
    MPI_Send(&go, 0, MPI_INT, 0, TAG + 1, WORLD);
    MPI_Wait(&r, NOSTATUS);
    CHECK(x == 12);
  }
  if (rank == 0) {
    x = 12;
    MPI_Recv(&go, 0, MPI_INT, 1, TAG + 1, WORLD, NOSTATUS);
    MPI_Rsend(&x, 1, MPI_INT, 1, TAG, WORLD);
  }
}
TEST(bsend, 2, "§3.6: a buffered send operation that has no matching receive completes, its completion does not depend on the occurrence of a matching receive") {
  enum { N = 100 };
  int a[N], bytes;
  void *p;
  MPI_Pack_size(N, MPI_INT, WORLD, &bytes);
  bytes += MPI_BSEND_OVERHEAD;
  char *room = malloc((size_t)bytes);
  MPI_Buffer_attach(room, bytes);
  if (rank < 2) {
    fill(a, N, rank);
    MPI_Bsend(a, N, MPI_INT, 1 - rank, TAG, WORLD);
    memset(a, 0, sizeof a);
    MPI_Recv(a, N, MPI_INT, 1 - rank, TAG, WORLD, NOSTATUS);
    CHECK(filled(a, N, 1 - rank));
  }
  MPI_Buffer_detach(&p, &bytes);
  CHECK(p == room);
  free(room);
}
TEST(bsend_detach_waits, 2, "§3.6: The call to detach returns once all messages currently in the buffer have been transmitted") {
  int x = 5, bytes = 2 * MPI_BSEND_OVERHEAD + 64;
  void *p, *room = malloc((size_t)bytes);
  int given = bytes;
  MPI_Buffer_attach(room, bytes);
  if (rank == 0) {
    MPI_Request r;
    MPI_Ibsend(&x, 1, MPI_INT, 1, TAG, WORLD, &r);
    MPI_Wait(&r, NOSTATUS);
  }
  MPI_Buffer_detach(&p, &bytes);
  CHECK(p == room && bytes == given);
  if (rank == 1) MPI_Recv(&x, 1, MPI_INT, 0, TAG, WORLD, NOSTATUS);
  free(room);
}
TEST(proc_null, 1, "§3.10: A communication with process MPI_PROC_NULL has no effect ... source = MPI_PROC_NULL, tag = MPI_ANY_TAG and count = 0") {
  int x = 5;
  MPI_Status s;
  MPI_Send(&x, 1, MPI_INT, MPI_PROC_NULL, TAG, WORLD);
  MPI_Recv(&x, 1, MPI_INT, MPI_PROC_NULL, TAG, WORLD, &s);
  CHECK(x == 5 && s.MPI_SOURCE == MPI_PROC_NULL && s.MPI_TAG == MPI_ANY_TAG && count_of(&s, MPI_INT) == 0);
  MPI_Probe(MPI_PROC_NULL, TAG, WORLD, &s);
  CHECK(s.MPI_SOURCE == MPI_PROC_NULL && s.MPI_TAG == MPI_ANY_TAG && count_of(&s, MPI_INT) == 0);
  int flag = 0;
  MPI_Iprobe(MPI_PROC_NULL, TAG, WORLD, &flag, &s);
  CHECK(flag && s.MPI_SOURCE == MPI_PROC_NULL);
}
TEST(proc_null_all_modes, 1, "§3.10: The special value MPI_PROC_NULL can be used instead of a rank wherever a source or a destination argument is required in a call") {
  int x = 5;
  MPI_Request r[4];
  MPI_Ssend(&x, 1, MPI_INT, MPI_PROC_NULL, TAG, WORLD);
  MPI_Rsend(&x, 1, MPI_INT, MPI_PROC_NULL, TAG, WORLD);
  MPI_Isend(&x, 1, MPI_INT, MPI_PROC_NULL, TAG, WORLD, &r[0]);
  MPI_Issend(&x, 1, MPI_INT, MPI_PROC_NULL, TAG, WORLD, &r[1]);
  MPI_Irsend(&x, 1, MPI_INT, MPI_PROC_NULL, TAG, WORLD, &r[2]);
  MPI_Irecv(&x, 1, MPI_INT, MPI_PROC_NULL, TAG, WORLD, &r[3]);
  MPI_Status s[4];
  MPI_Waitall(4, r, s);
  CHECK(x == 5 && s[3].MPI_SOURCE == MPI_PROC_NULL);
}
TEST(sendrecv, 1, "§3.10.1: The send-receive operation combines in one operation the sending of a message to one destination and the receiving of another message, from another process") {
  int a[3], b[3];
  MPI_Status s;
  fill(a, 3, rank);
  MPI_Sendrecv(a, 3, MPI_INT, right, TAG, b, 3, MPI_INT, left, TAG, WORLD, &s);
  CHECK(filled(b, 3, left) && s.MPI_SOURCE == left);
}
TEST(sendrecv_with_recv, 2, "§3.10.1: A message sent by a send-receive operation can be received by a regular receive operation or probed") {
  int x = rank, y = -1;
  if (rank == 0) {
    MPI_Sendrecv(&x, 1, MPI_INT, 1, TAG, &y, 1, MPI_INT, 1, TAG + 1, WORLD, NOSTATUS);
    CHECK(y == 1);
  }
  if (rank == 1) {
    MPI_Send(&x, 1, MPI_INT, 0, TAG + 1, WORLD);
    MPI_Recv(&y, 1, MPI_INT, 0, TAG, WORLD, NOSTATUS);
    CHECK(y == 0);
  }
}
TEST(sendrecv_replace, 1, "§3.10.1: The same buffer is used both for the send and for the receive, so that the message sent is replaced by the message received") {
  int a[5];
  fill(a, 5, rank);
  MPI_Sendrecv_replace(a, 5, MPI_INT, right, TAG, left, TAG, WORLD, NOSTATUS);
  CHECK(filled(a, 5, left));
}
TEST(sendrecv_replace_vector, 1, "§3.10.1: ... with a derived datatype: only its elements are replaced") {
  int a[9];
  MPI_Datatype t;
  MPI_Type_vector(3, 1, 3, MPI_INT, &t);
  MPI_Type_commit(&t);
  for (int i = 0; i < 9; i++) a[i] = 100 * rank + i;
  MPI_Sendrecv_replace(a, 1, t, right, TAG, left, TAG, WORLD, NOSTATUS);
  for (int i = 0; i < 9; i++) CHECK(a[i] == 100 * (i % 3 == 0 ? left : rank) + i);
  MPI_Type_free(&t);
}
#if MPI_AT_LEAST(4, 0)
TEST(isendrecv, 1, "§3.10.2: MPI_ISENDRECV executes a nonblocking send and receive operation") {
  int x = value(rank, 0), y = -1;
  MPI_Request r;
  MPI_Isendrecv(&x, 1, MPI_INT, right, TAG, &y, 1, MPI_INT, left, TAG, WORLD, &r);
  MPI_Wait(&r, NOSTATUS);
  CHECK(y == value(left, 0));
  MPI_Isendrecv_replace(&x, 1, MPI_INT, right, TAG, left, TAG, WORLD, &r);
  MPI_Wait(&r, NOSTATUS);
  CHECK(x == value(left, 0));
}
#endif
TEST(probe_count, 2, "§3.8.1: MPI_PROBE ... returns in status the same value that would have been returned by MPI_RECV") {
  int a[20];
  MPI_Status s, t;
  if (rank == 0) {
    fill(a, 13, 0);
    MPI_Send(a, 13, MPI_INT, 1, TAG, WORLD);
  }
  if (rank == 1) {
    MPI_Probe(MPI_ANY_SOURCE, TAG, WORLD, &s);
    int n = count_of(&s, MPI_INT);
    CHECK(n == 13 && s.MPI_SOURCE == 0 && s.MPI_TAG == TAG);
    MPI_Recv(a, n, MPI_INT, s.MPI_SOURCE, s.MPI_TAG, WORLD, &t);
    CHECK(filled(a, 13, 0) && count_of(&t, MPI_INT) == n);
  }
}
TEST(probe_leaves_message, 2, "§3.8.1: the same message may be probed for several times before it is received") {
  int x = 4;
  MPI_Status s;
  if (rank == 0) MPI_Send(&x, 1, MPI_INT, 1, TAG, WORLD);
  if (rank == 1) {
    for (int i = 0; i < 3; i++) MPI_Probe(0, TAG, WORLD, &s);
    MPI_Recv(&x, 1, MPI_INT, 0, TAG, WORLD, &s);
    int flag = 1;
    MPI_Iprobe(0, TAG, WORLD, &flag, &s);
    CHECK(flag == 0);
  }
}
TEST(iprobe_loop, 2, "§3.8.1: if MPI_IPROBE has been issued by a process and a matching send has been started, then a call will return flag = true, unless the message is received by another") {
  int x = 8, flag = 0;
  MPI_Status s;
  if (rank == 1) MPI_Send(&x, 1, MPI_INT, 0, TAG, WORLD);
  if (rank == 0) {
    while (!flag) MPI_Iprobe(MPI_ANY_SOURCE, TAG, WORLD, &flag, &s);
    CHECK(s.MPI_SOURCE == 1 && count_of(&s, MPI_INT) == 1);
    MPI_Recv(&x, 1, MPI_INT, 1, TAG, WORLD, NOSTATUS);
  }
}
TEST(mprobe, 2, "§3.8.2: MPI_MPROBE ... the message is matched and removed from the queue: it can be received only with the message handle") {
  int x = -1, flag = 1;
  MPI_Message m;
  MPI_Status s;
  if (rank == 0)
    for (int i = 1; i <= 2; i++) MPI_Send(&i, 1, MPI_INT, 1, TAG, WORLD);
  if (rank == 1) {
    MPI_Mprobe(0, TAG, WORLD, &m, &s);
    CHECK(m != MPI_MESSAGE_NULL && count_of(&s, MPI_INT) == 1);
    MPI_Recv(&x, 1, MPI_INT, 0, TAG, WORLD, NOSTATUS);
    CHECK(x == 2);
    MPI_Iprobe(0, TAG, WORLD, &flag, NOSTATUS);
    CHECK(flag == 0);
    MPI_Mrecv(&x, 1, MPI_INT, &m, &s);
    CHECK(x == 1 && m == MPI_MESSAGE_NULL && s.MPI_SOURCE == 0);
  }
}
TEST(improbe_imrecv, 2, "§3.8.3: MPI_IMRECV is the nonblocking variant of MPI_MRECV") {
  int a[4], flag = 0;
  MPI_Message m = MPI_MESSAGE_NULL;
  MPI_Request r;
  MPI_Status s;
  if (rank == 0) {
    fill(a, 4, 0);
    MPI_Send(a, 4, MPI_INT, 1, TAG, WORLD);
  }
  if (rank == 1) {
    while (!flag) MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, &flag, &m, &s);
    CHECK(s.MPI_TAG == TAG);
    MPI_Imrecv(a, 4, MPI_INT, &m, &r);
    CHECK(m == MPI_MESSAGE_NULL);
    MPI_Wait(&r, &s);
    CHECK(filled(a, 4, 0) && count_of(&s, MPI_INT) == 4);
  }
}
TEST(mprobe_proc_null, 1, "§3.8.2: a matching probe with MPI_PROC_NULL as source returns message = MPI_MESSAGE_NO_PROC and a status with source = MPI_PROC_NULL, tag = MPI_ANY_TAG, count = 0") {
  int x = 6;
  MPI_Message m;
  MPI_Status s;
  MPI_Mprobe(MPI_PROC_NULL, TAG, WORLD, &m, &s);
  CHECK(m == MPI_MESSAGE_NO_PROC && s.MPI_SOURCE == MPI_PROC_NULL && s.MPI_TAG == MPI_ANY_TAG && count_of(&s, MPI_INT) == 0);
  MPI_Mrecv(&x, 1, MPI_INT, &m, &s);
  CHECK(x == 6 && m == MPI_MESSAGE_NULL && s.MPI_SOURCE == MPI_PROC_NULL);
}
TEST(ssend_mprobe, 2, "§3.8.2: a synchronous send whose message is matched by MPI_MPROBE completes when the matched receive has started") {
  int x = 3, flag = 1;
  if (rank == 0) {
    MPI_Request r;
    MPI_Issend(&x, 1, MPI_INT, 1, TAG, WORLD, &r);
    MPI_Wait(&r, NOSTATUS);
  }
  if (rank == 1) {
    MPI_Message m;
    MPI_Mprobe(0, TAG, WORLD, &m, NOSTATUS);
    MPI_Mrecv(&x, 1, MPI_INT, &m, NOSTATUS);
    CHECK(x == 3);
  }
  (void)flag;
}
TEST(status_null_wait, 1, "§3.7.3: An empty status: tag = MPI_ANY_TAG, source = MPI_ANY_SOURCE, error = MPI_SUCCESS, count 0, cancelled false") {
  MPI_Request r = MPI_REQUEST_NULL;
  MPI_Status s;
  int c = 1;
  MPI_Wait(&r, &s);
  MPI_Test_cancelled(&s, &c);
  CHECK(s.MPI_TAG == MPI_ANY_TAG && s.MPI_SOURCE == MPI_ANY_SOURCE && count_of(&s, MPI_INT) == 0 && !c);
}
TEST(get_count_undefined, 2, "§3.2.5: If the number of bytes is not a multiple of the size of datatype, MPI_GET_COUNT returns the value MPI_UNDEFINED") {
  char a[8] = {0};
  double d;
  MPI_Status s;
  if (rank == 0) MPI_Send(a, 6, MPI_BYTE, 1, TAG, WORLD);
  if (rank == 1) {
    MPI_Recv(&d, 8, MPI_BYTE, 0, TAG, WORLD, &s);
    CHECK(count_of(&s, MPI_BYTE) == 6 && count_of(&s, MPI_DOUBLE) == MPI_UNDEFINED);
  }
}
TEST(tag_upper_bound, 2, "§9.1.2: tag values range from 0 to the value returned for MPI_TAG_UB, inclusive; it must be at least 32767") {
  int *ub, flag, x = 1;
  MPI_Status s;
  MPI_Comm_get_attr(WORLD, MPI_TAG_UB, &ub, &flag);
  CHECK(flag && *ub >= 32767);
  if (rank == 0) MPI_Send(&x, 1, MPI_INT, 1, *ub, WORLD);
  if (rank == 1) {
    MPI_Recv(&x, 1, MPI_INT, 0, MPI_ANY_TAG, WORLD, &s);
    CHECK(s.MPI_TAG == *ub);
  }
}
TEST(large_message, 2, "§3.5: progress: a pair of matching send and receive, at least one of these two operations will complete") {
  enum { N = 300000 };
  int *a = malloc(N * sizeof *a);
  MPI_Request r;
  if (rank < 2) {
    int *b = malloc(N * sizeof *b);
    fill(a, N, rank);
    MPI_Irecv(b, N, MPI_INT, 1 - rank, TAG, WORLD, &r);
    MPI_Send(a, N, MPI_INT, 1 - rank, TAG, WORLD);
    MPI_Wait(&r, NOSTATUS);
    CHECK(filled(b, N, 1 - rank));
    free(b);
  }
  free(a);
}
TEST(out_of_order_large, 2, "§3.5: a program ... receives the second message before the first, distinguished by tag, whatever their length") {
  enum { N = 50000 };
  static int a[N], b[N];
  if (rank == 0) {
    fill(a, N, 1);
    fill(b, N, 2);
    MPI_Request r[2];
    MPI_Isend(a, N, MPI_INT, 1, TAG, WORLD, &r[0]);
    MPI_Isend(b, N, MPI_INT, 1, TAG + 1, WORLD, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
  }
  if (rank == 1) {
    MPI_Recv(b, N, MPI_INT, 0, TAG + 1, WORLD, NOSTATUS);
    MPI_Recv(a, N, MPI_INT, 0, TAG, WORLD, NOSTATUS);
    CHECK(filled(a, N, 1) && filled(b, N, 2));
  }
}
TEST(type_matching_packed, 2, "§3.3.1: ... MPI_PACKED can match any other type") {
  int a[3] = {1, 2, 3}, at = 0, b[3] = {0};
  char room[64];
  if (rank == 0) {
    MPI_Pack(a, 3, MPI_INT, room, sizeof room, &at, WORLD);
    MPI_Send(room, at, MPI_PACKED, 1, TAG, WORLD);
  }
  if (rank == 1) {
    MPI_Recv(b, 3, MPI_INT, 0, TAG, WORLD, NOSTATUS);
    CHECK(b[0] == 1 && b[2] == 3);
  }
}
TEST(all_basic_types, 2, "§3.2.2: Possible values for this argument for C ... are listed in Table 3.2") {
  MPI_Datatype t[] = {MPI_CHAR, MPI_SHORT, MPI_INT, MPI_LONG, MPI_LONG_LONG_INT, MPI_SIGNED_CHAR, MPI_UNSIGNED_CHAR, MPI_UNSIGNED_SHORT, MPI_UNSIGNED, MPI_UNSIGNED_LONG, MPI_UNSIGNED_LONG_LONG, MPI_FLOAT, MPI_DOUBLE,
    MPI_LONG_DOUBLE, MPI_WCHAR, MPI_C_BOOL, MPI_INT8_T, MPI_INT16_T, MPI_INT32_T, MPI_INT64_T, MPI_UINT8_T, MPI_UINT16_T, MPI_UINT32_T, MPI_UINT64_T, MPI_AINT, MPI_COUNT, MPI_OFFSET, MPI_C_COMPLEX,
    MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX, MPI_BYTE};
  for (int i = 0; i < LENGTH(t); i++) {
    unsigned char a[64], b[64] = {0};
    int n;
    MPI_Status s;
    for (int k = 0; k < 64; k++) a[k] = (unsigned char)(i + k);
    MPI_Type_size(t[i], &n);
    if (rank == 0) MPI_Send(a, 2, t[i], 1, TAG, WORLD);
    if (rank == 1) {
      MPI_Recv(b, 2, t[i], 0, TAG, WORLD, &s);
      CHECK(memcmp(a, b, (size_t)(2 * n)) == 0 && count_of(&s, t[i]) == 2);
    }
  }
}
TEST(ring_many_ranks, 2, "§3.7: nonblocking communication: every rank exchanges with every other") {
  MPI_Request r[128];
  int in[64], out[64], n = 0;
  for (int i = 0; i < size; i++) {
    out[i] = value(rank, i);
    MPI_Irecv(&in[i], 1, MPI_INT, i, TAG, WORLD, &r[n++]);
    MPI_Isend(&out[i], 1, MPI_INT, i, TAG, WORLD, &r[n++]);
  }
  MPI_Waitall(n, r, MPI_STATUSES_IGNORE);
  for (int i = 0; i < size; i++) CHECK(in[i] == value(i, rank));
}
#if MPI_AT_LEAST(4, 0)
TEST(large_count_forms, 2, "§3.2.2: MPI_Send_c ... count of type MPI_Count") {
  MPI_Count n = 3, got = 0;
  int a[3] = {1, 2, 3};
  MPI_Status s;
  if (rank == 0) MPI_Send_c(a, n, MPI_INT, 1, TAG, WORLD);
  if (rank == 1) {
    int b[4] = {0};
    MPI_Recv_c(b, 4, MPI_INT, 0, TAG, WORLD, &s);
    MPI_Get_count_c(&s, MPI_INT, &got);
    CHECK(got == 3 && b[2] == 3);
  }
}
#endif
