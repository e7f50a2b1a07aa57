/**
 * Processes (MPI 4.1 chapter 11). A job can spawn its own program onto slots that are free; what cannot be spawned is
 * refused with MPI_ERR_SPAWN, at every process of the communicator. Ports and names connect groups of the same job.
 */
import { CONNECT_SECONDS, ERR, comms, ports, requests, spawns } from '@mayfly/mpi';
import type { SpawnPart } from '@mayfly/wire';
import { freeComm, making } from './communicators.ts';
import type { Core } from './core.ts';
import { record, type Implementations, type Waiting } from './define.ts';
import { Null } from './handles.ts';

const MAX_PORT_NAME = 256;

export function processes(core: Core): Implementations {
  const { layer, heap } = core;
  const success = (f: () => void): number => (f(), ERR.SUCCESS);
  const text = (at: number, what: string): string => heap.string(at, what, MAX_PORT_NAME);

  /** A list of strings that ends with a null pointer; MPI_ARGV_NULL is one. */
  function argv(at: number): string[] {
    const out: string[] = [];
    for (let p = at; p !== 0; p += 4) {
      const arg = heap.int(p, 'argv');
      if (arg === 0) break;
      out.push(heap.string(arg, 'argv'));
    }
    return out;
  }
  const command = (at: number): boolean => spawns.isOwn(heap.string(at, 'command'), core.options.programName ?? '');
  function part(args: number, count: number): SpawnPart {
    if (count < 1) core.fail(ERR.ARG, `maxprocs is ${count}, at least 1 is needed`);
    return { args: argv(args), count };
  }

  /** [MPI_Comm_connect] The info key `timeout`, as MPICH has it: seconds. @throws MPIError ERR_INFO_VALUE */
  function timeout(info: number): number {
    const value = core.info(info)?.get('timeout');
    if (value === undefined) return CONNECT_SECONDS;
    if (!/^\d{1,9}(\.\d{1,9})?$/.test(value))
      core.fail(ERR.INFO_VALUE, `the info key timeout is '${value}', not a number of seconds such as 30 or 0.5`);
    return Number(value);
  }

  /** @param wanted read at the root only */
  const spawning = (call: string, wanted: (args: number[]) => { parts: SpawnPart[]; known: boolean }): Waiting => ({
    start: (...args) => {
      const [root, comm, at, codes] = args.slice(-4) as [number, number, number, number];
      heap.setInt(at, Null.COMM, 'intercomm');
      const c = core.comm(comm).handle;
      return record(
        call,
        spawns.ask(layer, c, root, () => wanted(args), `MPI_${call}`),
        [at, c, root, codes, 0],
      );
    },
    finish: (r) => {
      const [at, comm, root, codes] = r.at as [number, number, number, number];
      let outcome = requests.wait(layer, r.request, `MPI_${call}`);
      if (r.phase === 0) {
        r.at[4] = outcome.status.bytes;
        if (!outcome.error) {
          r.request = spawns.meetChildren(layer, comm, root, outcome.result, outcome.status.bytes, `MPI_${call}`);
          r.phase = 1;
          outcome = requests.wait(layer, r.request, `MPI_${call}`);
        }
      }
      // MPI_ERRCODES_IGNORE is a null pointer.
      if (codes !== 0)
        heap.setInts(
          codes,
          new Array<number>(r.at[4]!).fill(outcome.error ? ERR.SPAWN : ERR.SUCCESS),
          'array_of_errcodes',
        );
      if (outcome.error) throw core.failed(outcome.error, outcome.comm);
      heap.setInt(at, core.commHandle(outcome.result), 'intercomm');
      return ERR.SUCCESS;
    },
  });

  return {
    Comm_spawn: spawning('Comm_spawn', ([name, args, count]) => ({
      known: command(name!),
      parts: [part(args!, count!)],
    })),
    Comm_spawn_multiple: spawning('Comm_spawn_multiple', ([n, names, args, counts]) => {
      const count = core.count(n!, 0);
      if (count === 0) core.fail(ERR.COUNT, 'count is 0: there is nothing to spawn');
      const each = args === 0 ? new Array<number>(count).fill(0) : heap.ints(args!, count, 'array_of_argv');
      return {
        known: heap.ints(names!, count, 'array_of_commands').every(command),
        parts: heap.ints(counts!, count, 'array_of_maxprocs').map((c, i) => part(each[i]!, c)),
      };
    }),
    Comm_get_parent: (at: number) => success(() => heap.setInt(at, core.commHandle(spawns.parentOf(layer)), 'parent')),
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
    Comm_accept: making(core, 'Comm_accept', (port, _info, root, comm) => ({
      request: ports.accept(layer, core.comm(comm!).handle, root!, () => text(port!, 'port_name')),
    })),
    Comm_connect: making(core, 'Comm_connect', (port, info, root, comm) => ({
      request: ports.connect(
        layer,
        core.comm(comm!).handle,
        root!,
        () => text(port!, 'port_name'),
        () => timeout(info!),
      ),
    })),
    // "Implementations that exist in an environment not supporting Berkeley Sockets should provide the entry point for
    // MPI_COMM_JOIN and should return MPI_COMM_NULL" (§11.10.4).
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
