/**
 * Prototypes of the C functions of MPI, by chapter: messages, datatypes, collectives. The notation is explained in
 * functions.ts.
 */
export const COMMUNICATION: readonly (readonly [chapter: string, prototypes: string])[] = [
  [
    'Point-to-point communication',
    `
Bsend(const void *buf, N count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
Bsend_init(const void *buf, N count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request)
Buffer_attach(void *buffer, N size)
Buffer_detach(void *buffer_addr, N *size)
Buffer_flush()
Buffer_iflush(MPI_Request *request)
Cancel(MPI_Request *request)
Comm_attach_buffer(MPI_Comm comm, void *buffer, N size)
Comm_detach_buffer(MPI_Comm comm, void *buffer_addr, N *size)
Comm_flush_buffer(MPI_Comm comm)
Comm_iflush_buffer(MPI_Comm comm, MPI_Request *request)
Get_count(const MPI_Status *status, MPI_Datatype datatype, N *count)
Get_elements(const MPI_Status *status, MPI_Datatype datatype, N *count)
Get_elements_x(const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count)
Grequest_complete(MPI_Request request)
Grequest_start(MPI_Grequest_query_function *query_fn, MPI_Grequest_free_function *free_fn,
  MPI_Grequest_cancel_function *cancel_fn, void *extra_state, MPI_Request *request)
Ibsend(const void *buf, N count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request)
Improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status)
Imrecv(void *buf, N count, MPI_Datatype datatype, MPI_Message *message, MPI_Request *request)
Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
Irecv(void *buf, N count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request *request)
Irsend(const void *buf, N count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request)
Isend(const void *buf, N count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request)
Isendrecv(const void *sendbuf, N sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf, N recvcount,
  MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Request *request)
Isendrecv_replace(void *buf, N count, MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag,
  MPI_Comm comm, MPI_Request *request)
Issend(const void *buf, N count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request)
Mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status)
Mrecv(void *buf, N count, MPI_Datatype datatype, MPI_Message *message, MPI_Status *status)
Parrived(MPI_Request request, int partition, int *flag)
Pready(int partition, MPI_Request request)
Pready_list(int length, const int array_of_partitions[], MPI_Request request)
Pready_range(int partition_low, int partition_high, MPI_Request request)
Precv_init(void *buf, int partitions, N count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Info info,
  MPI_Request *request)
Probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
Psend_init(const void *buf, int partitions, N count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
  MPI_Info info, MPI_Request *request)
Recv(void *buf, N count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status *status)
Recv_init(void *buf, N count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request *request)
Request_free(MPI_Request *request)
Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
Request_get_status_all(int count, const MPI_Request array_of_requests[], int *flag, MPI_Status *array_of_statuses)
Request_get_status_any(int count, const MPI_Request array_of_requests[], int *indx, int *flag, MPI_Status *status)
Request_get_status_some(int incount, const MPI_Request array_of_requests[], int *outcount, int array_of_indices[],
  MPI_Status *array_of_statuses)
Rsend(const void *buf, N count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
Rsend_init(const void *buf, N count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request)
Send(const void *buf, N count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
Send_init(const void *buf, N count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request)
Sendrecv(const void *sendbuf, N sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf, N recvcount,
  MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Status *status)
Sendrecv_replace(void *buf, N count, MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag,
  MPI_Comm comm, MPI_Status *status)
Ssend(const void *buf, N count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
Ssend_init(const void *buf, N count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request)
Start(MPI_Request *request)
Startall(int count, MPI_Request array_of_requests[])
Status_get_error(const MPI_Status *status, int *error)
Status_get_source(const MPI_Status *status, int *source)
Status_get_tag(const MPI_Status *status, int *tag)
Status_set_cancelled(MPI_Status *status, int flag)
Status_set_elements(MPI_Status *status, MPI_Datatype datatype, N count)
Status_set_elements_x(MPI_Status *status, MPI_Datatype datatype, MPI_Count count)
Status_set_error(MPI_Status *status, int error)
Status_set_source(MPI_Status *status, int source)
Status_set_tag(MPI_Status *status, int tag)
Test(MPI_Request *request, int *flag, MPI_Status *status)
Test_cancelled(const MPI_Status *status, int *flag)
Testall(int count, MPI_Request array_of_requests[], int *flag, MPI_Status *array_of_statuses)
Testany(int count, MPI_Request array_of_requests[], int *indx, int *flag, MPI_Status *status)
Testsome(int incount, MPI_Request array_of_requests[], int *outcount, int array_of_indices[],
  MPI_Status *array_of_statuses)
Wait(MPI_Request *request, MPI_Status *status)
Waitall(int count, MPI_Request array_of_requests[], MPI_Status *array_of_statuses)
Waitany(int count, MPI_Request array_of_requests[], int *indx, MPI_Status *status)
Waitsome(int incount, MPI_Request array_of_requests[], int *outcount, int array_of_indices[],
  MPI_Status *array_of_statuses)
`,
  ],
  [
    'Datatypes',
    `
Get_address(const void *location, MPI_Aint *address)
Pack(const void *inbuf, N incount, MPI_Datatype datatype, void *outbuf, N outsize, N *position, MPI_Comm comm)
Pack_external(const char *datarep, const void *inbuf, N incount, MPI_Datatype datatype, void *outbuf, A outsize,
  A *position)
Pack_external_size(const char *datarep, N incount, MPI_Datatype datatype, A *size)
Pack_size(N incount, MPI_Datatype datatype, MPI_Comm comm, N *size)
Type_commit(MPI_Datatype *datatype)
Type_contiguous(N count, MPI_Datatype oldtype, MPI_Datatype *newtype)
Type_create_darray(int size, int rank, int ndims, const N array_of_gsizes[], const int array_of_distribs[],
  const int array_of_dargs[], const int array_of_psizes[], int order, MPI_Datatype oldtype, MPI_Datatype *newtype)
Type_create_f90_complex(int p, int r, MPI_Datatype *newtype)
Type_create_f90_integer(int r, MPI_Datatype *newtype)
Type_create_f90_real(int p, int r, MPI_Datatype *newtype)
Type_create_hindexed(N count, const N array_of_blocklengths[], const A array_of_displacements[], MPI_Datatype oldtype,
  MPI_Datatype *newtype)
Type_create_hindexed_block(N count, N blocklength, const A array_of_displacements[], MPI_Datatype oldtype,
  MPI_Datatype *newtype)
Type_create_hvector(N count, N blocklength, A stride, MPI_Datatype oldtype, MPI_Datatype *newtype)
Type_create_indexed_block(N count, N blocklength, const N array_of_displacements[], MPI_Datatype oldtype,
  MPI_Datatype *newtype)
Type_create_resized(MPI_Datatype oldtype, A lb, A extent, MPI_Datatype *newtype)
Type_create_struct(N count, const N array_of_blocklengths[], const A array_of_displacements[],
  const MPI_Datatype array_of_types[], MPI_Datatype *newtype)
Type_create_subarray(int ndims, const N array_of_sizes[], const N array_of_subsizes[], const N array_of_starts[],
  int order, MPI_Datatype oldtype, MPI_Datatype *newtype)
Type_dup(MPI_Datatype oldtype, MPI_Datatype *newtype)
Type_free(MPI_Datatype *datatype)
Type_get_contents(MPI_Datatype datatype, int max_integers, int max_addresses, int max_datatypes,
  int array_of_integers[], MPI_Aint array_of_addresses[], MPI_Datatype array_of_datatypes[])
Type_get_contents_c(MPI_Datatype datatype, MPI_Count max_integers, MPI_Count max_addresses,
  MPI_Count max_large_counts, MPI_Count max_datatypes, int array_of_integers[], MPI_Aint array_of_addresses[],
  MPI_Count array_of_large_counts[], MPI_Datatype array_of_datatypes[])
Type_get_envelope(MPI_Datatype datatype, int *num_integers, int *num_addresses, int *num_datatypes, int *combiner)
Type_get_envelope_c(MPI_Datatype datatype, MPI_Count *num_integers, MPI_Count *num_addresses,
  MPI_Count *num_large_counts, MPI_Count *num_datatypes, int *combiner)
Type_get_extent(MPI_Datatype datatype, A *lb, A *extent)
Type_get_extent_x(MPI_Datatype datatype, MPI_Count *lb, MPI_Count *extent)
Type_get_true_extent(MPI_Datatype datatype, A *true_lb, A *true_extent)
Type_get_true_extent_x(MPI_Datatype datatype, MPI_Count *true_lb, MPI_Count *true_extent)
Type_get_value_index(MPI_Datatype value_type, MPI_Datatype index_type, MPI_Datatype *pair_type)
Type_indexed(N count, const N array_of_blocklengths[], const N array_of_displacements[], MPI_Datatype oldtype,
  MPI_Datatype *newtype)
Type_match_size(int typeclass, int size, MPI_Datatype *datatype)
Type_size(MPI_Datatype datatype, N *size)
Type_size_x(MPI_Datatype datatype, MPI_Count *size)
Type_vector(N count, N blocklength, N stride, MPI_Datatype oldtype, MPI_Datatype *newtype)
Unpack(const void *inbuf, N insize, N *position, void *outbuf, N outcount, MPI_Datatype datatype, MPI_Comm comm)
Unpack_external(const char datarep[], const void *inbuf, A insize, A *position, void *outbuf, N outcount,
  MPI_Datatype datatype)
MPI_Aint Aint_add(MPI_Aint base, MPI_Aint disp)
MPI_Aint Aint_diff(MPI_Aint addr1, MPI_Aint addr2)
`,
  ],
  [
    'Collective communication',
    `
Allgather(const void *sendbuf, N sendcount, MPI_Datatype sendtype, void *recvbuf, N recvcount, MPI_Datatype recvtype,
  MPI_Comm comm)
Allgather_init(const void *sendbuf, N sendcount, MPI_Datatype sendtype, void *recvbuf, N recvcount,
  MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
Allgatherv(const void *sendbuf, N sendcount, MPI_Datatype sendtype, void *recvbuf, const N recvcounts[],
  const D displs[], MPI_Datatype recvtype, MPI_Comm comm)
Allgatherv_init(const void *sendbuf, N sendcount, MPI_Datatype sendtype, void *recvbuf, const N recvcounts[],
  const D displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
Allreduce(const void *sendbuf, void *recvbuf, N count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
Allreduce_init(const void *sendbuf, void *recvbuf, N count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
  MPI_Info info, MPI_Request *request)
Alltoall(const void *sendbuf, N sendcount, MPI_Datatype sendtype, void *recvbuf, N recvcount, MPI_Datatype recvtype,
  MPI_Comm comm)
Alltoall_init(const void *sendbuf, N sendcount, MPI_Datatype sendtype, void *recvbuf, N recvcount,
  MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
Alltoallv(const void *sendbuf, const N sendcounts[], const D sdispls[], MPI_Datatype sendtype, void *recvbuf,
  const N recvcounts[], const D rdispls[], MPI_Datatype recvtype, MPI_Comm comm)
Alltoallv_init(const void *sendbuf, const N sendcounts[], const D sdispls[], MPI_Datatype sendtype, void *recvbuf,
  const N recvcounts[], const D rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
Alltoallw(const void *sendbuf, const N sendcounts[], const D sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
  const N recvcounts[], const D rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm)
Alltoallw_init(const void *sendbuf, const N sendcounts[], const D sdispls[], const MPI_Datatype sendtypes[],
  void *recvbuf, const N recvcounts[], const D rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
  MPI_Info info, MPI_Request *request)
Barrier(MPI_Comm comm)
Barrier_init(MPI_Comm comm, MPI_Info info, MPI_Request *request)
Bcast(void *buffer, N count, MPI_Datatype datatype, int root, MPI_Comm comm)
Bcast_init(void *buffer, N count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request)
Exscan(const void *sendbuf, void *recvbuf, N count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
Exscan_init(const void *sendbuf, void *recvbuf, N count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
  MPI_Info info, MPI_Request *request)
Gather(const void *sendbuf, N sendcount, MPI_Datatype sendtype, void *recvbuf, N recvcount, MPI_Datatype recvtype,
  int root, MPI_Comm comm)
Gather_init(const void *sendbuf, N sendcount, MPI_Datatype sendtype, void *recvbuf, N recvcount,
  MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request)
Gatherv(const void *sendbuf, N sendcount, MPI_Datatype sendtype, void *recvbuf, const N recvcounts[],
  const D displs[], MPI_Datatype recvtype, int root, MPI_Comm comm)
Gatherv_init(const void *sendbuf, N sendcount, MPI_Datatype sendtype, void *recvbuf, const N recvcounts[],
  const D displs[], MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request)
Iallgather(const void *sendbuf, N sendcount, MPI_Datatype sendtype, void *recvbuf, N recvcount, MPI_Datatype recvtype,
  MPI_Comm comm, MPI_Request *request)
Iallgatherv(const void *sendbuf, N sendcount, MPI_Datatype sendtype, void *recvbuf, const N recvcounts[],
  const D displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
Iallreduce(const void *sendbuf, void *recvbuf, N count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
  MPI_Request *request)
Ialltoall(const void *sendbuf, N sendcount, MPI_Datatype sendtype, void *recvbuf, N recvcount, MPI_Datatype recvtype,
  MPI_Comm comm, MPI_Request *request)
Ialltoallv(const void *sendbuf, const N sendcounts[], const D sdispls[], MPI_Datatype sendtype, void *recvbuf,
  const N recvcounts[], const D rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
Ialltoallw(const void *sendbuf, const N sendcounts[], const D sdispls[], const MPI_Datatype sendtypes[],
  void *recvbuf, const N recvcounts[], const D rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
  MPI_Request *request)
Ibarrier(MPI_Comm comm, MPI_Request *request)
Ibcast(void *buffer, N count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Request *request)
Iexscan(const void *sendbuf, void *recvbuf, N count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
  MPI_Request *request)
Igather(const void *sendbuf, N sendcount, MPI_Datatype sendtype, void *recvbuf, N recvcount, MPI_Datatype recvtype,
  int root, MPI_Comm comm, MPI_Request *request)
Igatherv(const void *sendbuf, N sendcount, MPI_Datatype sendtype, void *recvbuf, const N recvcounts[],
  const D displs[], MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)
Ireduce(const void *sendbuf, void *recvbuf, N count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm,
  MPI_Request *request)
Ireduce_scatter(const void *sendbuf, void *recvbuf, const N recvcounts[], MPI_Datatype datatype, MPI_Op op,
  MPI_Comm comm, MPI_Request *request)
Ireduce_scatter_block(const void *sendbuf, void *recvbuf, N recvcount, MPI_Datatype datatype, MPI_Op op,
  MPI_Comm comm, MPI_Request *request)
Iscan(const void *sendbuf, void *recvbuf, N count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
  MPI_Request *request)
Iscatter(const void *sendbuf, N sendcount, MPI_Datatype sendtype, void *recvbuf, N recvcount, MPI_Datatype recvtype,
  int root, MPI_Comm comm, MPI_Request *request)
Iscatterv(const void *sendbuf, const N sendcounts[], const D displs[], MPI_Datatype sendtype, void *recvbuf,
  N recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)
Op_commutative(MPI_Op op, int *commute)
Op_create(MPI_User_function# *user_fn, int commute, MPI_Op *op)
Op_free(MPI_Op *op)
Reduce(const void *sendbuf, void *recvbuf, N count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm)
Reduce_init(const void *sendbuf, void *recvbuf, N count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm,
  MPI_Info info, MPI_Request *request)
Reduce_local(const void *inbuf, void *inoutbuf, N count, MPI_Datatype datatype, MPI_Op op)
Reduce_scatter(const void *sendbuf, void *recvbuf, const N recvcounts[], MPI_Datatype datatype, MPI_Op op,
  MPI_Comm comm)
Reduce_scatter_block(const void *sendbuf, void *recvbuf, N recvcount, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
Reduce_scatter_block_init(const void *sendbuf, void *recvbuf, N recvcount, MPI_Datatype datatype, MPI_Op op,
  MPI_Comm comm, MPI_Info info, MPI_Request *request)
Reduce_scatter_init(const void *sendbuf, void *recvbuf, const N recvcounts[], MPI_Datatype datatype, MPI_Op op,
  MPI_Comm comm, MPI_Info info, MPI_Request *request)
Scan(const void *sendbuf, void *recvbuf, N count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
Scan_init(const void *sendbuf, void *recvbuf, N count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
  MPI_Request *request)
Scatter(const void *sendbuf, N sendcount, MPI_Datatype sendtype, void *recvbuf, N recvcount, MPI_Datatype recvtype,
  int root, MPI_Comm comm)
Scatter_init(const void *sendbuf, N sendcount, MPI_Datatype sendtype, void *recvbuf, N recvcount,
  MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request)
Scatterv(const void *sendbuf, const N sendcounts[], const D displs[], MPI_Datatype sendtype, void *recvbuf,
  N recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
Scatterv_init(const void *sendbuf, const N sendcounts[], const D displs[], MPI_Datatype sendtype, void *recvbuf,
  N recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request)
`,
  ],
];
