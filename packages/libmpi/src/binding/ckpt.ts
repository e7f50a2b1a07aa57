/**
 * Operation-level checkpoints (Tang, Fagg, Dongarra, "Proposal of MPI operation level checkpoint/rollback", §3.1):
 * what a program registers, and the checks of the seven calls.
 *
 * In a job whose losses are told (protocol `app`) the data of all tags go as one piece of bytes to the other processes
 * and to the disk (packages/mpi/src/ckpt). Where images bring a lost process back, the calls are hints: MPI_Ckpt_here
 * is a place at which an image may be taken, and MPI_Rollback finds the data as they are, since nothing was lost.
 */
import { ERR, LINEAR, ckpt as service, types } from '@mayfly/mpi';
import { Predefined } from './handles.ts';
import type { Core } from './core.ts';
import type { Implementations } from './define.ts';
import type { CkptData, CkptState } from './state.ts';

const { WEIGHTED_REAL } = service.Algorithm;

/** By their whole names. */
export function checkpointCalls(core: Core): Implementations {
  const { heap, layer } = core;
  const told = (): boolean => layer.device.tellsLosses === true;

  function opened(): CkptState {
    const { ckpt } = core.state;
    return ckpt ?? core.fail(ERR.CHECKPOINT, 'no checkpoints are open: MPI_Ckpt_open comes first');
  }

  /** @param present communicator where the options name none */
  function options(at: number, present: number): { comm: number; options: service.Settings } {
    const [algorithm, nof, ratio, memory, flags, handle] = (at === 0 ? ZERO : heap.ints(at, 6, 'options')) as Six;
    const comm = core.comm(handle === 0 ? core.commHandle(present) : handle);
    if (comm.remote) core.fail(ERR.COMM, 'the communicator is an intercommunicator', comm.handle);
    const settings = { algorithm, nof, ratio, memory, flags };
    const wrong = service.wrongIn(settings, comm.group.length);
    if (wrong) core.fail(ERR.ARG, wrong, comm.handle);
    return { comm: comm.handle, options: settings };
  }

  function join(o: { comm: number; options: service.Settings }): void {
    if (!told()) return;
    const node = layer.device.place(() => core.options.processorName());
    service.join(layer, o.comm, o.options, node, core.call, NUMBERS);
  }

  function data(ckpt: CkptState, address: number, length: number, datatype: number, tag: number): CkptData {
    if (tag < 0) core.fail(ERR.TAG, `tag ${tag} is negative`, ckpt.comm);
    const count = core.count(length, ckpt.comm, 'length');
    const type = core.typeFor(count, datatype, ckpt.comm);
    core.checkPlace(address, count, type, ckpt.comm, 'the data');
    const basic = count === 0 ? undefined : types.uniform(layer, type, core.call);
    const element = service.isNumber(basic) ? basic.id : NO_NUMBER;
    const d = { address: address >>> 0, count, layout: type.layout, element };
    fits(ckpt.options, d, tag, ckpt.comm);
    return d;
  }

  /** Codes of numbers take numbers only. */
  function fits(o: service.Settings, d: CkptData, tag: number, comm: number): void {
    if (o.algorithm === WEIGHTED_REAL && d.element === NO_NUMBER && bytesOf(d) > 0)
      core.fail(
        ERR.TYPE,
        `the data of tag ${tag} are not numbers of one type, which MPI_CKPT_WEIGHTED_REAL adds up`,
        comm,
      );
  }

  /** How many, tags, types and bytes, then the data of each. */
  function packed(ckpt: CkptState): Uint8Array {
    const entries = [...ckpt.data];
    const head = 8 + 16 * entries.length;
    const out = new Uint8Array(entries.reduce((n, [, d]) => n + bytesOf(d), head));
    const view = new DataView(out.buffer);
    view.setUint32(0, entries.length, true);
    let at = head;
    entries.forEach(([tag, d], i) => {
      view.setInt32(8 + 16 * i, tag, true);
      view.setInt32(12 + 16 * i, d.element, true);
      view.setFloat64(16 + 16 * i, bytesOf(d), true);
      if (bytesOf(d) > 0) layer.memory.pack(d.layout, d.count, LINEAR, d.address, out.subarray(at, (at += bytesOf(d))));
    });
    return out;
  }
  /** What a checkpoint has under a tag. */
  function unpacked(bytes: Uint8Array, tag: number): Uint8Array | undefined {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    const entries = view.getUint32(0, true);
    for (let i = 0, at = 8 + 16 * entries; i < entries; i++) {
      const length = view.getFloat64(16 + 16 * i, true);
      if (view.getInt32(8 + 16 * i, true) === tag) return bytes.subarray(at, at + length);
      at += length;
    }
    return undefined;
  }

  return {
    MPI_Ckpt_open: (at: number) => {
      if (core.state.ckpt) core.fail(ERR.CHECKPOINT, 'checkpoints are open already: MPI_Ckpt_close comes first');
      const o = options(at, core.commNumber(Predefined.COMM_WORLD));
      join(o);
      core.state.ckpt = { ...o, data: new Map(), rounds: 0, saved: new Map() };
      return ERR.SUCCESS;
    },
    MPI_Ckpt_close: () => {
      opened();
      closeCheckpoints(core);
      return ERR.SUCCESS;
    },
    MPI_Ckpt: (address: number, length: number, datatype: number, tag: number) => {
      const ckpt = opened();
      const d = data(ckpt, address, length, datatype, tag);
      if (ckpt.data.has(tag))
        core.fail(ERR.TAG, `data are registered under tag ${tag}: MPI_Remove_ckpt comes first`, ckpt.comm);
      ckpt.data.set(tag, d);
      return ERR.SUCCESS;
    },
    MPI_Ckpt_here: () => {
      const ckpt = opened();
      if (told()) service.here(layer, packed(ckpt), core.call);
      else {
        ckpt.rounds++;
        ckpt.saved = new Map([...ckpt.data].map(([tag, d]) => [tag, bytesOf(d)]));
      }
      return ERR.SUCCESS;
    },
    MPI_Rollback: (address: number, length: number, datatype: number, tag: number) => {
      const ckpt = opened();
      const d = data(ckpt, address, length, datatype, tag);
      const whole = told() ? service.rollback(layer, core.call) : undefined;
      if (!whole && ckpt.rounds === 0)
        core.fail(ERR.CHECKPOINT, 'there is no checkpoint: MPI_Ckpt_here has made none', ckpt.comm);
      const kept = whole && unpacked(whole, tag);
      const bytes = whole ? kept?.length : ckpt.saved.get(tag);
      if (bytes === undefined) return core.fail(ERR.TAG, `the checkpoint has no data under tag ${tag}`, ckpt.comm);
      if (bytes !== bytesOf(d))
        core.fail(ERR.COUNT, `the checkpoint has ${bytes} bytes under tag ${tag}, not ${bytesOf(d)}`, ckpt.comm);
      if (kept && bytes > 0) layer.memory.unpack(d.layout, d.count, kept, LINEAR, d.address);
      ckpt.data.set(tag, d);
      return ERR.SUCCESS;
    },
    MPI_Remove_ckpt: (tag: number) => {
      const ckpt = opened();
      if (!ckpt.data.delete(tag)) core.fail(ERR.TAG, `no data are registered under tag ${tag}`, ckpt.comm);
      return ERR.SUCCESS;
    },
    MPI_Ckpt_ctrl: (at: number) => {
      const ckpt = opened();
      const o = options(at, ckpt.comm);
      for (const [tag, d] of ckpt.data) fits(o.options, d, tag, o.comm);
      join(o);
      Object.assign(ckpt, o);
      return ERR.SUCCESS;
    },
  };
}

/** [MPI_Ckpt_close, MPI_Finalize] */
export function closeCheckpoints(core: Core): void {
  if (!core.state.ckpt) return;
  core.state.ckpt = undefined;
  if (core.layer.device.tellsLosses) service.close(core.layer, core.call);
}

type Six = [number, number, number, number, number, number];
const ZERO: readonly number[] = [0, 0, 0, 0, 0, 0];

/** Element id of data that no code of numbers takes. */
const NO_NUMBER = -1;

/** The data of {@link checkpointCalls}'s `packed`, with doubles in the place of what lies behind the list. */
const NUMBERS = service.numbersFormat((data) => {
  const view = new DataView(data.buffer, data.byteOffset, data.length);
  const entries = view.getUint32(0, true);
  const head = 8 + 16 * entries;
  const parts: service.Part[] = [];
  let length = head;
  for (let i = 0; i < entries; i++) {
    const bytes = view.getFloat64(16 + 16 * i, true);
    if (bytes > 0) parts.push({ element: view.getInt32(12 + 16 * i, true), offset: length, bytes });
    length += bytes;
  }
  return { head, length, parts };
});

const bytesOf = ({ layout, count }: CkptData): number => layout.size * count;
