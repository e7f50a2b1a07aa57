/** What a rank makes of losses and recoveries under FT-MPI's modes (F4 to F7 of src/failure/recovery.ts). */
import { describe, expect, it } from 'vitest';
import { HOLE, WORLD, encodeMember, taskId, type FtModes, type MemberNotice } from '@mayfly/wire';
import {
  COLLECTIVE,
  COMM_SELF,
  COMM_WORLD,
  ERR,
  Mode,
  collectives,
  failures,
  linear,
  p2p,
  requests,
  type Layer,
} from '../src/index.ts';
import { AT, NONE, classOf, lost, rank, receive } from './told-rank.ts';

const NEW = 48;
const recovered = (...ranks: number[]): MemberNotice => ({
  op: 'recovered',
  epoch: 1,
  ranks,
  failed: [1],
  context: NEW,
});
const modes = (communicators: FtModes['communicators'], messages: FtModes['messages'] = 'reset'): FtModes => ({
  communicators,
  messages,
});
/** As MPI_Comm_dup with FT_MPI_CHECK_RECOVER does. */
const recover = (layer: Layer): void => {
  const request = failures.startRecovery(layer, 'MPI_Comm_dup');
  if (request !== undefined) expect(requests.wait(layer, request).result).toBe(COMM_WORLD);
};

describe('between a loss and the recovery (F4)', () => {
  it('a call that waits ends, and nothing writes into its buffer any more', () => {
    const { layer, memory, comes, notice } = rank(modes('shrink', 'cont'));
    notice(lost(1));
    expect(classOf(() => requests.wait(layer, receive(layer, 2, 'MPI_Recv')))).toBe(ERR.OTHER);
    comes(taskId(2), 0, 7, Uint8Array.of(9));
    notice(recovered(0, 2));
    recover(layer);
    expect(memory[AT]).toBe(0);
    // It is still there for a receive of after.
    expect(requests.wait(layer, receive(layer, 1)).error).toBeUndefined();
    expect(memory[AT]).toBe(9);
  });

  it('a process that only sends hears of the loss at its next call', () => {
    const { layer, notice } = rank(modes('shrink'));
    failures.needWhole(layer, 'MPI_Send');
    notice(lost(1));
    expect(classOf(() => failures.needWhole(layer, 'MPI_Send'))).toBe(ERR.OTHER);
    notice(recovered(0, 2));
    recover(layer);
    failures.needWhole(layer, 'MPI_Send');
  });

  it('a collective ends, and a message of it that comes late is dropped (F6)', () => {
    const { layer, comes, notice } = rank(modes('blank', 'cont'));
    const c = collectives.bcast(layer, COMM_WORLD, linear(AT, 1), 2);
    notice(lost(1));
    expect(classOf(() => requests.wait(layer, c))).toBe(ERR.OTHER);
    expect(requests.wait(layer, c).error?.errorClass).toBe(ERR.OTHER);
    notice(recovered(0, HOLE, 2));
    comes(taskId(2), COLLECTIVE, 0, Uint8Array.of(9));
    recover(layer);
    expect(classOf(() => p2p.iprobe(layer, COMM_SELF, 0, 0))).toBe(0);
    expect(layer.state.unexpected.size).toBe(0);
  });

  it('asks once, with a context of its own; without a loss it asks nothing', () => {
    const { layer, sent, notice } = rank(modes('shrink'));
    recover(layer);
    expect(sent).toEqual([]);
    notice(lost(1));
    expect(classOf(() => failures.needWhole(layer, 'MPI_Send'))).toBe(ERR.OTHER);
    notice(recovered(0, 2));
    recover(layer);
    recover(layer);
    expect(sent.map((m) => [m.dst, m.body])).toEqual([[WORLD, encodeMember({ op: 'recover', offer: 24 })]]);
  });

  it('a replacement has no rank before the others let it in', () => {
    const { layer, notice } = rank({ ...modes('rebuild'), restarted: true });
    expect(classOf(() => failures.needWhole(layer, 'MPI_Send'))).toBe(ERR.OTHER);
    notice(lost(1));
    notice(recovered(2, 0));
    recover(layer);
    const world = layer.state.comms.rows.get(COMM_WORLD)!;
    expect([world.rank, world.group]).toEqual([1, [2, 0]]);
  });
});

describe('messages of before', () => {
  it('CONT: between processes that are left they are received, also late; those of a lost one are dropped (F5)', () => {
    const { layer, memory, comes, notice } = rank(modes('shrink', 'cont'));
    const pending = receive(layer, 2);
    const fromLost = receive(layer, 1);
    notice(lost(1));
    notice(recovered(0, 2));
    comes(taskId(2), 0, 7, Uint8Array.of(5));
    comes(taskId(2), NEW, 7, Uint8Array.of(6));
    recover(layer);
    expect(requests.wait(layer, fromLost).error?.errorClass).toBe(ERR.OTHER);
    expect(requests.wait(layer, pending).status.source).toBe(1);
    expect(memory[AT]).toBe(5);
    requests.wait(layer, receive(layer, 1));
    expect(memory[AT]).toBe(6);
  });

  it('RESET: they are dropped, and requests are void (F5)', () => {
    const { layer, memory, comes, notice, sent } = rank(modes('shrink'));
    const pending = receive(layer, 2);
    comes(taskId(2), 0, 8, Uint8Array.of(4));
    notice(lost(1));
    notice(recovered(0, 2));
    comes(taskId(2), 0, 7, Uint8Array.of(5));
    comes(taskId(2), NEW, 7, Uint8Array.of(6));
    recover(layer);
    expect(requests.wait(layer, pending).error?.errorClass).toBe(ERR.OTHER);
    requests.wait(layer, receive(layer, 1));
    expect(memory[AT]).toBe(6);
    expect(layer.state.unexpected.size).toBe(0);
    p2p.send(layer, COMM_WORLD, 1, 0, NONE);
    expect(sent.at(-1)).toMatchObject({ dst: 2, mode: Mode.STANDARD, context: NEW });
  });

  it('CONT over two recoveries', () => {
    const { layer, memory, comes, notice } = rank(modes('blank', 'cont'));
    notice(lost(1));
    notice(recovered(0, HOLE, 2));
    recover(layer);
    notice(lost(3));
    notice({ op: 'recovered', epoch: 2, ranks: [0, HOLE, 2], failed: [], context: 96 });
    comes(taskId(2), 0, 7, Uint8Array.of(1));
    comes(taskId(2), NEW, 7, Uint8Array.of(2));
    recover(layer);
    for (const n of [1, 2]) {
      requests.wait(layer, receive(layer, 2));
      expect(memory[AT]).toBe(n);
    }
  });
});

describe('objects of before (F7)', () => {
  it('are invalid, but MPI_COMM_WORLD and MPI_COMM_SELF', () => {
    const { layer, comes, notice } = rank(modes('shrink'));
    const old = 9;
    const world = layer.state.comms.rows.get(COMM_WORLD)!;
    layer.state.comms.rows.set(old, { ...world, handle: old, context: 40, attributes: new Map() });
    notice(lost(1));
    notice(recovered(0, 2));
    comes(taskId(2), 40, 7, Uint8Array.of(5));
    recover(layer);
    expect(classOf(() => p2p.iprobe(layer, old, 0, 7))).toBe(ERR.COMM);
    expect(p2p.iprobe(layer, COMM_SELF, 0, 7)).toBeUndefined();
    expect(layer.state.unexpected.size).toBe(0);
  });
});
