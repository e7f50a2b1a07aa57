/** A rank holds back teammates whose messages it does not receive, and stops nobody for ever (backlog.ts). */
import { Backlog } from '@mayfly/protocols';
import { taskId } from '@mayfly/wire';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Teammates } from '../src/rank/teammates.ts';
import { createTeamMemory } from '../src/ring/team-memory.ts';
import { Bench } from './harness.ts';

const [a, b] = [taskId(0), taskId(1)];
const limits = { held: 1000, more: 500, most: 3000, everyMs: 100 };

describe('a backlog', () => {
  const of = (): { backlog: Backlog; bodies: { bytes: number } } => {
    const bodies = { bytes: 0 };
    return { backlog: new Backlog(bodies, limits), bodies };
  };

  it('H1, H2: holds all back but those for whose messages the rank waits', () => {
    const { backlog, bodies } = of();
    bodies.bytes = 999;
    backlog.awaits = 'nothing';
    expect([backlog.holds(a), backlog.holds(b)]).toEqual([false, false]);
    bodies.bytes = 1000;
    expect([backlog.holds(a), backlog.holds(b)]).toEqual([true, true]);
    backlog.awaits = b;
    expect([backlog.holds(a), backlog.holds(b)]).toEqual([true, false]);
    backlog.awaits = 'any';
    expect([backlog.holds(a), backlog.holds(b)]).toEqual([false, false]);
  });

  it('counts messages without a body, moved out of a ring and at the MPI layer', () => {
    const { backlog } = of();
    backlog.awaits = 'nothing';
    backlog.moves(1, 0);
    backlog.keeps(2, 0);
    expect(backlog.holds(a)).toBe(false);
    backlog.keeps(3, 0);
    expect(backlog.holds(a)).toBe(true);
    backlog.moves(-1, 0);
    expect(backlog.holds(a)).toBe(false);
  });

  it('H3: lets in more now and then while somebody is held back, and begins again when it has less', () => {
    const { backlog, bodies } = of();
    let now = 0;
    const looks = (holding: boolean): boolean => {
      backlog.waits(
        () => holding,
        () => now,
      );
      return backlog.holds(a);
    };
    backlog.awaits = b;
    bodies.bytes = 1200;
    expect(looks(true)).toBe(true);
    now = 99;
    expect(looks(true)).toBe(true);
    expect(looks(false)).toBe(true); // nobody is held back: the time begins again
    now = 150;
    expect(looks(true)).toBe(true);
    now = 250;
    expect(looks(true)).toBe(false);
    bodies.bytes = 1699;
    expect(backlog.holds(a)).toBe(false);
    bodies.bytes = 1700;
    expect(backlog.holds(a)).toBe(true);
    bodies.bytes = 900;
    expect(backlog.holds(a)).toBe(false);
    bodies.bytes = 1000;
    expect(backlog.holds(a)).toBe(true);
  });

  it('H4, H5: is full at the most that it may have, but not in a replay', () => {
    const { backlog, bodies } = of();
    bodies.bytes = 3000;
    expect([backlog.full, backlog.holds(a)]).toEqual([true, true]);
    backlog.awaits = 'all';
    expect([backlog.full, backlog.holds(a)]).toEqual([false, false]);
    backlog.close();
    expect([backlog.full, backlog.holds(a)]).toEqual([false, true]);
  });
});

describe('the end of a rank', () => {
  const MOST = 300;
  const body = new Uint8Array(256 * 1024);
  const ends = (): [Teammates, Teammates] => {
    const memory = createTeamMemory(2, 0);
    return [a, b].map((task) => new Teammates({ members: [a, b], memory }, task)) as [Teammates, Teammates];
  };
  /** Sends until it would wait. @returns how many it sent */
  const sends = (from: Teammates, to: Teammates, moves: () => void): number => {
    const full = new Error('full');
    let sent = 0;
    try {
      for (; sent < MOST; sent++) {
        const h = from.header(b, sent + 1, 1, 7, 0, 0, body.length);
        from.send(1, h, body, (ready) => {
          for (let i = 0; i < 3 && !ready(); i++) moves();
          if (!ready()) throw full;
        });
      }
    } catch (error) {
      if (error !== full) throw error;
    }
    return sent;
  };

  it('N7: stops a sender whose messages it does not receive, and takes all of them for whom it waits', () => {
    const [from, to] = ends();
    to.backlog.awaits = 'nothing';
    const sent = sends(from, to, () => to.drain());
    expect(sent).toBeGreaterThan(250);
    expect(sent).toBeLessThan(270);
    expect(to.backlog.bytes).toBeLessThan(to.backlog.limits.held + 2 * body.length);
    expect([to.holding(), to.take(a) !== undefined]).toEqual([true, true]);
    to.backlog.awaits = a;
    let got = 1;
    for (let m = to.take(a); m; m = to.take(a)) {
      got++;
      to.pull(m.number, new Uint8Array(m.size), () => {
        throw new Error('the rest of the last message does not come');
      });
      if (got === sent) break;
    }
    expect(got).toBe(sent);
  });

  it('H5: takes everything while an image records the channel', () => {
    const [from, to] = ends();
    to.backlog.awaits = 'nothing';
    to.cut.cut(1);
    expect(sends(from, to, () => to.drain())).toBe(MOST);
  });
});

describe('on a real node', () => {
  const bench = new Bench();
  beforeAll(() => bench.start());
  afterAll(() => bench.close());

  const run = async (source: string, protocol: 'none' | 'pessimistic') => {
    const node = await bench.node(3);
    const id = await bench.submit(source, 3, { options: { protocol, team: 3 } });
    const end = await bench.ended(id);
    bench.nodes.splice(bench.nodes.indexOf(node), 1);
    await node.close(0);
    return end;
  };

  it.each(['none', 'pessimistic'] as const)('a program that needs 100 MB of room goes on (%s)', async (protocol) => {
    const { job, stdout } = await run(
      `import { COMM_WORLD as comm } from 'mayfly';
       const body = new Float64Array(1 << 17), word = new Float64Array(1);
       if (comm.rank === 0) {
         for (let k = 0; k < 100; k++) comm.send(body.fill(k), 1, 5);
         comm.send(word, 2, 1);
       }
       if (comm.rank === 2) { comm.recv(word, 0, 1); comm.send(word, 1, 1); }
       if (comm.rank === 1) {
         comm.recv(word, 2, 1);
         let sum = 0;
         for (let k = 0; k < 100; k++) { comm.recv(body, 0, 5); sum += body[k]!; }
         console.log(sum);
       }`,
      protocol,
    );
    expect([job.error, stdout[1]]).toEqual([undefined, '4950\n']);
  });

  it.each(['none', 'pessimistic'] as const)(
    'a program that sends without end fails with an error that says so (%s)',
    async (protocol) => {
      const { job } = await run(
        `import { COMM_WORLD as comm } from 'mayfly';
         const body = new Float64Array(1 << 17);
         if (comm.rank === 0) for (;;) comm.send(body, 1, 5);
         comm.recv(body, (comm.rank + 1) % 3, 6);`,
        protocol,
      );
      expect(job.error?.code).toBe('PROGRAM_ERROR');
      expect(job.error?.message).toContain('rank 1 has 512 MB of messages from ranks of its node');
    },
  );
});
