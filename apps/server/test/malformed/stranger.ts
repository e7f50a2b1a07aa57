/**
 * A node that takes ranks and never runs them: its incarnations are real, and what is said in their name is what the
 * test draws.
 */
import { CONTROL_VERSION, type Assignment } from '@mayfly/wire';
import { io, type Socket } from 'socket.io-client';
import { later } from '../harness.ts';
import type { Holder } from './messages.ts';

export class Stranger {
  readonly socket: Socket;
  readonly holders: Holder[] = [];
  readonly #held = new Set<string>();
  here = false;

  constructor(url: string) {
    this.socket = io(`${url}/node`, { transports: ['websocket'], forceNew: true, timeout: 120_000 });
    this.socket.on('connect', () =>
      this.socket.emit(
        'hello',
        { version: CONTROL_VERSION, name: 'stranger', engine: 'none', slots: 64, holds: [], images: [] },
        () => (this.here = true),
      ),
    );
    this.socket.on('assign', (a: Assignment) => {
      this.#held.add(`${a.job}.${a.task}`);
      this.holders.push({
        capability: a.capability,
        job: a.job,
        task: a.task,
        incarnation: a.incarnation,
        nonce: `nonce-${this.holders.length}-drawn`,
      });
    });
    this.socket.on('revoke', (r: { job: string; task: number }) => void this.#held.delete(`${r.job}.${r.task}`));
    // Who says nothing is suspect, and gets no new rank.
    const beat = setInterval(() => {
      const tasks = this.holders
        .filter((h) => this.#held.has(`${h.job}.${h.task}`))
        .map(({ job, task, incarnation }) => ({
          job,
          task,
          incarnation,
          started: false,
          activity: { state: 'computing', arrivals: 0, sends: 0 },
        }));
      if (this.here) this.socket.emit('heartbeat', { tasks });
    }, 300);
    later(async () => {
      clearInterval(beat);
      this.socket.disconnect();
    });
  }
}
