/**
 * What a rank makes of notices of the membership service (docs/ulfm.md), at the border of the layer: arrivals go in,
 * the messages of the rank come out.
 */
import { describe, expect, it } from 'vitest';
import { WORLD, WorldMode, taskId } from '@mayfly/wire';
import {
  ANY_SOURCE,
  COLLECTIVE,
  COMM_SELF,
  COMM_WORLD,
  ERR,
  FAILED_BY_LOSS,
  Mode,
  collectives,
  comms,
  failures,
  linear,
  p2p,
  requests,
} from '../src/index.ts';
import { NONE, classOf, lost, rank, receive } from './told-rank.ts';

describe('point to point (U1)', () => {
  it('delivers what a lost process sent, then fails; others go on', () => {
    const { layer, comes, notice, sent } = rank();
    comes(taskId(1), 0, 7, Uint8Array.of(5));
    notice(lost(1));
    comes(taskId(2), 0, 7, Uint8Array.of(6));
    const first = receive(layer, 1);
    const second = receive(layer, 1);
    const other = receive(layer, 2);
    expect(requests.wait(layer, first).error).toBeUndefined();
    expect(requests.wait(layer, second).error?.errorClass).toBe(ERR.PROC_FAILED);
    expect(requests.wait(layer, other).error).toBeUndefined();
    expect(requests.wait(layer, receive(layer, 1)).error?.errorClass).toBe(ERR.PROC_FAILED);
    expect(classOf(() => p2p.send(layer, COMM_WORLD, 1, 0, NONE))).toBe(ERR.PROC_FAILED);
    expect(classOf(() => p2p.probe(layer, COMM_WORLD, 1, 7))).toBe(ERR.PROC_FAILED);
    p2p.send(layer, COMM_WORLD, 2, 0, NONE);
    expect(sent.map((m) => m.dst)).toEqual([2]);
  });

  it('ends a synchronous send that its receiver never acknowledged', () => {
    const { layer, notice } = rank();
    const r = p2p.startSend(layer, COMM_WORLD, 1, 0, NONE, true, 'MPI_Issend');
    notice(lost(1));
    expect(requests.wait(layer, r).error?.errorClass).toBe(ERR.PROC_FAILED);
  });

  it('a receive from any source is pending until the loss is acknowledged, and stays posted', () => {
    const { layer, comes, notice } = rank();
    const r = receive(layer, ANY_SOURCE);
    notice(lost(1));
    const pending = requests.wait(layer, r);
    expect([pending.error?.errorClass, pending.stays]).toEqual([ERR.PROC_FAILED_PENDING, true]);
    expect(requests.test(layer, r)?.error?.errorClass).toBe(ERR.PROC_FAILED_PENDING);
    expect(requests.waitAll(layer, [r])[0]!.stays).toBe(true);
    expect(requests.wait(layer, receive(layer, ANY_SOURCE, 'MPI_Recv')).error?.errorClass).toBe(ERR.PROC_FAILED);
    failures.failureAck(layer, COMM_WORLD);
    expect(requests.test(layer, r)).toBeUndefined();
    comes(taskId(2), 0, 7, Uint8Array.of(9));
    expect(requests.wait(layer, r).error).toBeUndefined();
  });

  it('acknowledges the first so many, in the order of the notices', () => {
    const { layer, notice } = rank();
    notice(lost(2));
    notice(lost(1));
    expect(failures.getFailed(layer, COMM_WORLD)).toEqual([2, 1]);
    expect(failures.getAcked(layer, COMM_WORLD)).toEqual([]);
    expect(failures.ackFailed(layer, COMM_WORLD, 1)).toBe(1);
    expect(failures.getAcked(layer, COMM_WORLD)).toEqual([2]);
    expect(failures.ackFailed(layer, COMM_WORLD, 0)).toBe(1);
    expect(failures.ackFailed(layer, COMM_WORLD, 9)).toBe(2);
    expect(classOf(() => failures.ackFailed(layer, COMM_WORLD, -1))).toBe(ERR.ARG);
  });
});

describe('collectives (U2)', () => {
  it('end by the notice where they need the lost one, and tell who waits; what still comes of them is dropped', () => {
    const { layer, comes, notice, sent } = rank();
    const r = collectives.barrier(layer, COMM_WORLD);
    expect(sent.map((m) => [m.dst, m.word])).toEqual([[1, 0]]);
    notice(lost(1));
    expect(requests.wait(layer, r).error?.errorClass).toBe(ERR.PROC_FAILED);
    expect(sent.map((m) => [m.dst, m.word])).toEqual([
      [1, 0],
      [2, FAILED_BY_LOSS],
    ]);
    comes(taskId(2), COLLECTIVE, 0);
    expect(failures.getFailed(layer, COMM_WORLD)).toEqual([1]);
    expect(layer.state.unexpected.size).toBe(0);
    // A later one ends at once, at its completion.
    const later = collectives.barrier(layer, COMM_WORLD);
    expect(requests.wait(layer, later).error?.errorClass).toBe(ERR.PROC_FAILED);
    expect(sent.at(-1)).toMatchObject({ dst: 2, word: FAILED_BY_LOSS });
    expect(layer.state.requests.rows.size).toBe(0);
    expect(layer.state.posted.size).toBe(0);
  });

  it('end well where they need nothing more of the lost one', () => {
    const { layer, comes, notice } = rank();
    const r = collectives.bcast(layer, COMM_WORLD, linear(64, 1), 2);
    notice(lost(1));
    comes(taskId(2), COLLECTIVE, 0, Uint8Array.of(4));
    expect(requests.wait(layer, r).error).toBeUndefined();
  });

  it('end where a peer has left for a loss', () => {
    const { layer, comes } = rank();
    const r = collectives.bcast(layer, COMM_WORLD, linear(64, 1), 2);
    comes(taskId(2), COLLECTIVE, 0, NONE, Mode.STANDARD, FAILED_BY_LOSS);
    expect(requests.wait(layer, r).error?.errorClass).toBe(ERR.PROC_FAILED);
  });

  it('go on among those that are left, where they make a communicator of their own', () => {
    const { layer, notice, sent } = rank();
    notice(lost(1));
    failures.getFailed(layer, COMM_WORLD);
    const r = comms.createGroup(layer, COMM_WORLD, [0, 2], 1);
    expect(sent.map((m) => m.dst)).toEqual([2]);
    expect(requests.isComplete(layer, r)).toBe(false);
  });
});

describe('revoke (U3)', () => {
  it('fails what is pending and what comes, but agreements', () => {
    const { layer, notice, sent } = rank();
    const pending = [receive(layer, 2), receive(layer, ANY_SOURCE), collectives.barrier(layer, COMM_WORLD)];
    const agreement = failures.agree(layer, COMM_WORLD, 3);
    notice({ op: 'revoked', context: 0 });
    expect(requests.waitAll(layer, pending).map((o) => o.error?.errorClass)).toEqual(Array(3).fill(ERR.REVOKED));
    expect(failures.isRevoked(layer, COMM_WORLD)).toBe(true);
    expect(classOf(() => p2p.send(layer, COMM_WORLD, 2, 0, NONE))).toBe(ERR.REVOKED);
    expect(requests.wait(layer, receive(layer, 2)).error?.errorClass).toBe(ERR.REVOKED);
    notice({ op: 'agreed', context: 0, number: 0, flag: 1, offer: 0, lost: [], unacknowledged: false });
    expect(requests.wait(layer, agreement)).toMatchObject({ error: undefined, agreed: { flag: 1, lost: [] } });
    const asked = sent.length;
    failures.revoke(layer, COMM_WORLD);
    expect(sent).toHaveLength(asked);
  });
});

describe('agreements (U4, U5)', () => {
  it('answer in their order, with the flag beside the error', () => {
    const { layer, notice, sent } = rank();
    const [a, b] = [failures.agree(layer, COMM_WORLD, 6), failures.agree(layer, COMM_WORLD, 5)];
    expect(sent.map((m) => [m.dst, m.mode])).toEqual(Array(2).fill([WORLD, WorldMode.MEMBER]));
    expect(sent.map((m) => (JSON.parse(new TextDecoder().decode(m.body)) as { number: number }).number)).toEqual([
      0, 1,
    ]);
    notice(lost(1));
    const all = { op: 'agreed', context: 0, offer: 0, lost: [1] } as const;
    notice({ ...all, number: 0, flag: 2, unacknowledged: true });
    notice({ ...all, number: 1, flag: 4, unacknowledged: false });
    const first = requests.wait(layer, a);
    expect([first.error?.errorClass, first.agreed?.flag]).toEqual([ERR.PROC_FAILED, 2]);
    expect(requests.wait(layer, b)).toMatchObject({ error: undefined, agreed: { flag: 4 } });
  });

  it('shrink keeps the order of ranks, and its communicator works', () => {
    const { layer, comes, notice } = rank();
    const r = failures.shrink(layer, COMM_WORLD);
    notice(lost(1));
    notice({ op: 'agreed', context: 0, number: 0, flag: -1, offer: 40, lost: [1], unacknowledged: true });
    const { error, result } = requests.wait(layer, r);
    expect(error).toBeUndefined();
    expect(layer.state.comms.rows.get(result)).toMatchObject({ group: [0, 2], rank: 0, context: 40 });
    const barrier = collectives.barrier(layer, result);
    comes(taskId(2), 40 + COLLECTIVE, 0);
    expect(requests.wait(layer, barrier).error).toBeUndefined();
  });

  it('are collectives where losses are not told, and nobody can revoke', () => {
    const { layer } = rank();
    Object.assign(layer.device, { tellsLosses: false });
    expect(classOf(() => failures.revoke(layer, COMM_WORLD))).toBe(ERR.UNSUPPORTED_OPERATION);
    expect(failures.getFailed(layer, COMM_WORLD)).toEqual([]);
    expect(requests.wait(layer, failures.agree(layer, COMM_SELF, -7)).agreed).toEqual({ flag: -7, lost: [] });
    const { result } = requests.wait(layer, failures.shrink(layer, COMM_SELF));
    expect(layer.state.comms.rows.get(result)!.group).toEqual([0]);
  });
});
