/**
 * Sessions (MPI 4.1 §11.3): MPI without MPI_COMM_WORLD, before, beside and after the World Model. A session is a handle
 * with an error handler, hints and perhaps a buffer; its process sets are groups of the layer, and communicators are
 * made from groups and a string that their processes agree on.
 */
import { ERR, MPIError, comms, intercomms, ports } from '@mayfly/mpi';
import { making, newGroup } from './communicators.ts';
import type { Core } from './core.ts';
import type { Implementations, Waiting } from './define.ts';
import { errhandlerHandle, errhandlerNumber, errorName } from './environment.ts';
import { Kind, Null, handleOf, numberOf } from './handles.ts';
import { attached, detached } from './point-to-point.ts';
import { COMPLETE, newSlot } from './slots.ts';
import type { SessionRecord } from './state.ts';

const LEVELS = ['SINGLE', 'FUNNELED', 'SERIALIZED', 'MULTIPLE'].map((n) => `MPI_THREAD_${n}`);
const GRANTED = 'MPI_THREAD_MULTIPLE';
const STRINGTAG = 256;

export function sessions(core: Core): Implementations {
  const { layer, heap } = core;
  const success = (f: () => void): number => (f(), ERR.SUCCESS);

  function sessionOf(handle: number): SessionRecord {
    return (
      core.state.sessions.get(numberOf(Kind.SESSION, handle)) ??
      core.fail(
        ERR.SESSION,
        handle === Null.SESSION ? 'the session is MPI_SESSION_NULL' : `${handle} is not a session, or it was finalized`,
      )
    );
  }
  /** Errors of `f` go to an error handler of the layer's number, with the object that it is of. */
  function under(errhandler: number, object: number, f: () => number): number {
    try {
      return f();
    } catch (e) {
      if (!(e instanceof MPIError) || core.layer.state.comms.rows.has(e.comm)) throw e;
      return core.raiseAt(errhandler, object, e);
    }
  }
  const within = (handle: number, f: (s: SessionRecord) => void): number => {
    const s = sessionOf(handle);
    return under(s.errhandler, handle, () => success(() => f(s)));
  };
  const psets = (): Map<string, number[]> => comms.processSets(layer);
  const pset = (at: number): number[] => {
    const name = heap.string(at, 'pset_name');
    return (
      comms.processSet(layer, name) ??
      core.fail(ERR.ARG, `there is no process set '${name}' (there are ${[...psets().keys()].join(' and ')})`)
    );
  };
  const stringTag = (at: number): string => {
    const tag = heap.string(at, 'stringtag');
    if (tag.length >= STRINGTAG)
      core.fail(
        ERR.ARG,
        `the string tag has ${tag.length} characters, fewer than ${STRINGTAG} (MPI_MAX_STRINGTAG_LEN) are allowed`,
      );
    return tag;
  };

  /**
   * A making without a parent: its errors go to the handler that is given, which the communicator gets too. `last`: its
   * arguments end with info, errhandler, newcomm.
   */
  function orphan(call: string, start: (...args: number[]) => { request: number; members?: boolean }): Waiting {
    const made = making(core, call, start) as Waiting;
    const finish = (errhandler: number, at: number, f: () => number): number =>
      under(errhandler, Null.COMM, () => {
        const code = f();
        const handle = heap.int(at, 'newcomm');
        if (handle !== Null.COMM) core.comm(handle).errhandler = errhandler;
        return code;
      });
    return {
      start: (...args) => {
        const [info, handler, at] = args.slice(-3) as [number, number, number];
        const errhandler = errhandlerNumber(core, handler);
        let r: ReturnType<Waiting['start']> = ERR.SUCCESS;
        const code = under(errhandler, Null.COMM, () => {
          core.info(info);
          r = made.start(...args);
          return typeof r === 'number' ? r : ERR.SUCCESS;
        });
        if (typeof r === 'number') return code;
        (r as { at: number[] }).at.push(errhandler, at);
        return r;
      },
      finish: (r) => finish(r.at[r.at.length - 2]!, r.at[r.at.length - 1]!, () => made.finish(r)),
    };
  }

  return {
    Session_init: (info: number, handler: number, at: number) => {
      const errhandler = errhandlerNumber(core, handler);
      return under(errhandler, Null.SESSION, () =>
        success(() => {
          heap.check(at, 4, 'session');
          const given = core.info(info);
          const wanted = given?.get('thread_level');
          if (wanted !== undefined && !LEVELS.includes(wanted))
            core.fail(ERR.INFO_VALUE, `thread_level '${wanted}' is none of ${LEVELS.join(', ')}`);
          const n = core.state.nextSession++;
          core.state.sessions.set(n, { errhandler, level: wanted ?? GRANTED });
          // After MPI_Finalize too "MPI_SESSION_INIT … may be called" (§11.3): the layer is in use again.
          layer.state.finalized = false;
          heap.setInt(at, handleOf(Kind.SESSION, n), 'session');
        }),
      );
    },
    Session_finalize: (at: number) =>
      success(() => {
        const handle = heap.int(at, 'session');
        sessionOf(handle);
        core.state.sessions.delete(numberOf(Kind.SESSION, handle));
        layer.state.finalized = core.state.phase === 'after' && core.state.sessions.size === 0;
        if (!core.inUse) ports.leave(layer);
        heap.setInt(at, Null.SESSION, 'session');
      }),
    Session_get_info: (session: number, at: number) =>
      within(session, (s) =>
        heap.setInt(
          at,
          core.newInfo(
            new Map([
              ['thread_level', s.level],
              ['mpi_memory_alloc_kinds', 'mpi'],
            ]),
          ),
          'info_used',
        ),
      ),
    Session_get_num_psets: (session: number, info: number, at: number) =>
      within(session, () => {
        core.info(info);
        heap.setInt(at, psets().size, 'npset_names');
      }),
    Session_get_nth_pset: (session: number, info: number, n: number, length: number, at: number) =>
      within(session, () => {
        core.info(info);
        const name =
          [...psets().keys()][n] ?? core.fail(ERR.ARG, `n ${n} is not below the ${psets().size} process sets`);
        const room = heap.int(length, 'pset_len');
        if (room > 0) heap.setString(at, name, room, 'pset_name');
        // "the value of pset_len will be set to the required buffer size", the end counted.
        heap.setInt(length, name.length + 1, 'pset_len');
      }),
    Session_get_pset_info: (session: number, name: number, at: number) =>
      within(session, () => heap.setInt(at, core.newInfo(new Map([['mpi_size', String(pset(name).length)]])), 'info')),
    Session_get_errhandler: (session: number, at: number) =>
      success(() => heap.setInt(at, errhandlerHandle(sessionOf(session).errhandler), 'errhandler')),
    Session_set_errhandler: (session: number, handler: number) =>
      within(session, (s) => void (s.errhandler = errhandlerNumber(core, handler))),
    Session_call_errhandler: (session: number, code: number) =>
      success(
        () =>
          void core.handle(
            sessionOf(session).errhandler,
            session,
            code,
            `error ${code} raised by the program: ${errorName(core, code)}`,
          ),
      ),
    Group_from_session_pset: (session: number, name: number, at: number) =>
      within(session, () => {
        // "If the pset_name does not exist, MPI_GROUP_NULL will be returned" (§11.3.2)
        heap.setInt(at, Null.GROUP, 'newgroup');
        newGroup(core, at, pset(name));
      }),
    Comm_create_from_group: orphan('Comm_create_from_group', (group, tag) => {
      const tasks = core.group(group!);
      const text = stringTag(tag!);
      return tasks.length === 0
        ? { request: 0, members: false }
        : { request: comms.createFromGroup(layer, tasks, text, core.call) };
    }),
    Intercomm_create_from_groups: orphan(
      'Intercomm_create_from_groups',
      (local, localLeader, remote, remoteLeader, tag) => ({
        request: intercomms.createFromGroups(
          layer,
          core.group(local!),
          localLeader!,
          () => core.group(remote!),
          remoteLeader!,
          stringTag(tag!),
        ),
      }),
    ),
    Session_attach_buffer: (session: number, address: number, size: number) =>
      within(session, (s) => {
        if (s.buffer) core.fail(ERR.BUFFER, 'a buffer is attached already');
        s.buffer = attached(core, address, size);
      }),
    Session_detach_buffer: (session: number, address: number, size: number) =>
      within(session, (s) => void detached(core, address, size, s.buffer, () => (s.buffer = undefined))),
    Session_flush_buffer: (session: number) => within(session, () => undefined),
    Session_iflush_buffer: (session: number, request: number) =>
      within(session, () => heap.setInt(request, newSlot(core, COMPLETE), 'request')),
  };
}
