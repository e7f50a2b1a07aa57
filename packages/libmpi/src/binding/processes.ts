/**
 * Processes (MPI 4.1 chapter 11). The processes of a job are those that it was started with: spawning is refused with MPI_ERR_SPAWN, at every process of
 * the communicator. Ports and names connect groups of the same job.
 */
import { ERR, comms, ports } from '@mayfly/mpi';
import { freeComm, making } from './communicators.ts';
import type { Core } from './core.ts';
import { record, type Implementations } from './define.ts';
import { Null } from './handles.ts';

const MAX_PORT_NAME = 256;

export function processes(core: Core): Implementations {
  const { layer, heap } = core;
  const success = (f: () => void): number => (f(), ERR.SUCCESS);
  const text = (at: number, what: string): string => heap.string(at, what, MAX_PORT_NAME);

  /** @param counts addresses of the numbers of processes wanted, read at the root only */
  function refuse(comm: number, root: number, at: number, codes: number, wanted: () => number[]): number {
    const c = core.comm(comm);
    if (c.remote) core.fail(ERR.COMM, `${c.name} is an intercommunicator`, c.handle);
    if (root < 0 || root >= c.group.length) core.fail(ERR.ROOT, `root ${root} is no rank: ${c.name} has ranks 0 to ${c.group.length - 1}`, c.handle);
    heap.setInt(at, Null.COMM, 'intercomm');
    if (c.rank === root) {
      const n = wanted().reduce((a, b) => a + core.count(b, c.handle, 'maxprocs'), 0);
      // MPI_ERRCODES_IGNORE is a null pointer.
      if (codes !== 0) heap.setInts(codes, new Array<number>(n).fill(ERR.SPAWN), 'array_of_errcodes');
    }
    return core.fail(ERR.SPAWN, 'a job has the processes that it was started with: no more can be spawned', c.handle);
  }

  return {
    Comm_spawn: (_command: number, _argv: number, maxprocs: number, _info: number, root: number, comm: number, at: number, codes: number) => refuse(comm, root, at, codes, () => [maxprocs]),
    Comm_spawn_multiple: (count: number, _commands: number, _argvs: number, maxprocs: number, _infos: number, root: number, comm: number, at: number, codes: number) =>
      refuse(comm, root, at, codes, () => heap.ints(maxprocs, core.count(count, 0), 'array_of_maxprocs')),
    Comm_get_parent: (at: number) => success(() => heap.setInt(at, Null.COMM, 'parent')),
    Open_port: (info: number, name: number) =>
      success(() => {
        core.info(info);
        heap.setString(name, ports.open(layer), MAX_PORT_NAME, 'port_name');
      }),
    Close_port: (name: number) => success(() => ports.close(layer, text(name, 'port_name'))),
    Publish_name: (service: number, info: number, port: number) =>
      success(() => {
        core.info(info);
        ports.publish(layer, text(service, 'service_name'), text(port, 'port_name'));
      }),
    Unpublish_name: (service: number, info: number, port: number) =>
      success(() => {
        core.info(info);
        ports.unpublish(layer, text(service, 'service_name'), text(port, 'port_name'));
      }),
    Lookup_name: (service: number, info: number, port: number) =>
      success(() => {
        core.info(info);
        heap.check(port, 1, 'port_name');
        heap.setString(port, ports.lookup(layer, text(service, 'service_name')), MAX_PORT_NAME, 'port_name');
      }),
    // The port, the info and their like count at the root only.
    Comm_accept: making(core, 'Comm_accept', (port, _info, root, comm) => ({ request: ports.accept(layer, core.comm(comm!).handle, root!, () => text(port!, 'port_name')) })),
    Comm_connect: making(core, 'Comm_connect', (port, _info, root, comm) => ({ request: ports.connect(layer, core.comm(comm!).handle, root!, () => text(port!, 'port_name')) })),
    // "Implementations that exist in an environment not supporting Berkeley Sockets should provide the entry point for MPI_COMM_JOIN and should return MPI_COMM_NULL" (§11.10.4).
    Comm_join: (_fd: number, at: number) => success(() => heap.setInt(at, Null.COMM, 'intercomm')),
    Comm_disconnect: {
      start: (at) => record('Comm_disconnect', 0, [at!, core.comm(heap.int(at!, 'comm')).handle]),
      finish: (r) => {
        comms.quiesce(layer, r.at[1]!);
        freeComm(core, r.at[0]!);
        return ERR.SUCCESS;
      },
    },
  };
}
