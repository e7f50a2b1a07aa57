/** The host of the comm core, where a team begins again while ranks of its life before are still there. */
import { protocols } from '@mayfly/protocols';
import { incarnation, taskId, type Assignment } from '@mayfly/wire';
import { expect, it } from 'vitest';
import { CommHost } from '../src/comm/host.ts';
import { nodeSeams } from '../src/comm/node-seams.ts';
import type { CommToDaemon, CommToFrame, DaemonToComm } from '../src/messages.ts';

/** A host without a server: its ranks begin, and wait for their program. */
class Desk {
  /** What became of ranks that are gone, as 'task.incarnation how'. */
  readonly ended: string[] = [];
  #send: (m: DaemonToComm) => void = () => undefined;

  constructor() {
    const socket = { bufferedAmount: 0, send: () => undefined, close: () => undefined };
    const seams = {
      ...nodeSeams({
        openSocket: () => socket as never,
        openPolling: () => socket as never,
        get: () => new Promise<never>(() => undefined),
      }),
      after: () => () => undefined,
    };
    const daemon = {
      post: (m: CommToDaemon) => void (m.type === 'ended' && this.ended.push(`${m.task}.${m.incarnation} ${m.how}`)),
      onMessage: (handler: (m: DaemonToComm) => void) => (this.#send = handler),
      onClose: () => undefined,
      close: () => undefined,
    };
    const closed = (m: CommToFrame): void => void (m.type === 'spawn' && m.port.close());
    new CommHost('http://localhost', seams, daemon, closed);
  }

  assign(task: number, inc: number): void {
    const assignment = {
      ...{ job: 'job000000000', task: taskId(task), incarnation: incarnation(inc), size: 2, team: [0, 1].map(taskId) },
      ...{ program: { language: 'typescript', hash: 'p', entry: 'main.ts' }, limits: {}, protocol: 'pessimistic' },
      ...{ capability: 'c', channelMemories: ['/data/cm/0'], position: protocols.pessimistic.recovery.start },
    } as unknown as Assignment;
    this.#send({ type: 'assign', assignment, clockOffset: 0, local: false, node: 'n', runs: ['typescript'] });
  }

  gone(type: 'revoke' | 'crash', task: number, inc: number): void {
    this.#send({ type, task: taskId(task), incarnation: incarnation(inc), why: 'no memory' });
  }
}

it.each(['is there', 'was revoked', 'has crashed'])(
  'T1: all of a team ends where the member that comes first %s',
  (first) => {
    const d = new Desk();
    d.assign(0, 0);
    d.assign(1, 0);
    if (first === 'was revoked') d.gone('revoke', 1, 0);
    if (first === 'has crashed') d.gone('crash', 1, 0);
    d.assign(1, 1);
    const before = ['0.0 revoked', `1.0 ${first === 'has crashed' ? 'crashed' : 'revoked'}`];
    expect(d.ended.toSorted()).toEqual(before);
    d.assign(0, 1);
    expect(d.ended.toSorted()).toEqual(before);
  },
);

it('an assignment that comes twice ends nobody', () => {
  const d = new Desk();
  d.assign(0, 0);
  d.assign(1, 0);
  d.assign(1, 0);
  expect(d.ended).toEqual([]);
});
