/**
 * A handful of MPI functions over the layer, for tests of the host alone; handles are the layer's own. MPI_Pcontrol is
 * no profiling here: it calls the function that it is given.
 */
import { collectives, linear, p2p, requests, encodeValue, decodeValue } from '@mayfly/mpi';
import type { Binding, BindingOptions, Word } from '../../src/program.ts';

export const SCRATCH_HEADER = `
typedef int MPI_Comm; typedef int MPI_Datatype; typedef int MPI_Status;
#define MPI_COMM_WORLD 1
#define MPI_BYTE 1
#define MPI_INT 4
#define MPI_DOUBLE 8
#define MPI_STATUS_IGNORE ((MPI_Status*)0)
#ifdef __cplusplus
extern "C" {
#endif
int MPI_Init(int*, char***); int MPI_Finalize(void);
int MPI_Comm_rank(MPI_Comm, int*); int MPI_Comm_size(MPI_Comm, int*);
int MPI_Send(const void*, int, MPI_Datatype, int, int, MPI_Comm);
int MPI_Recv(void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status*);
int MPI_Barrier(MPI_Comm); double MPI_Wtime(void); int MPI_Abort(MPI_Comm, int);
int MPIX_Checkpoint_poll(void);
int MPI_Pcontrol(void (*)(void));
#ifdef __cplusplus
}
#endif
`;
export const SCRATCH_SUSPENDING = ['MPI_Send', 'MPI_Recv', 'MPI_Barrier', 'MPIX_Checkpoint_poll'];

export function createScratchBinding({ layer, program }: BindingOptions): Binding {
  let record: number | undefined;
  let resumed = false;
  let depth = 0;
  const mem = (): DataView => new DataView(program.memory.buffer);
  const n = (w: Word): number => Number(w) >>> 0;
  /** start, then wait; after a rewind only the wait. */
  const waiting = (start: () => number): number => {
    if (!resumed) record = start();
    resumed = false;
    requests.wait(layer, record!);
    record = undefined;
    return 0;
  };
  return {
    functions: {
      MPI_Init: () => 0,
      MPI_Finalize: () => 0,
      MPI_Comm_rank: (_c, at) => (mem().setInt32(n(at!), layer.device.task, true), 0),
      MPI_Comm_size: (_c, at) => (mem().setInt32(n(at!), layer.device.size, true), 0),
      MPI_Send: (buf, count, type, dst, tag) => (
        p2p.send(
          layer,
          1,
          Number(dst),
          Number(tag),
          new Uint8Array(program.memory.buffer, n(buf!), n(count!) * n(type!)),
        ),
        0
      ),
      MPI_Recv: (buf, count, type, src, tag) =>
        waiting(() =>
          p2p.startReceive(layer, 1, Number(src), Number(tag), linear(n(buf!), n(count!) * n(type!)), 'MPI_Recv'),
        ),
      MPI_Barrier: () => waiting(() => collectives.barrier(layer, 1)),
      MPI_Wtime: () => layer.device.clock() / 1000,
      MPI_Abort: (_c, code) => program.abort(Number(code), `MPI_Abort(${String(code)})`),
      MPIX_Checkpoint_poll: () => 0,
      MPI_Pcontrol: (f) => {
        depth++;
        try {
          program.callable(n(f!))();
        } finally {
          depth--;
        }
        return 0;
      },
    },
    suspending: new Set(SCRATCH_SUSPENDING),
    unfinalized: false,
    get depth() {
      return depth;
    },
    resume: () => void (resumed = true),
    snapshot: () => encodeValue({ record }),
    restore: (bytes) => void ({ record } = decodeValue(bytes) as { record: number | undefined }),
  };
}
