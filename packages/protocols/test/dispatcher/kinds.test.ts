/** Nodes that run programs of one kind only (D20), and the queue beside them (D4). */
import { describe, expect, it } from 'vitest';
import { nodeViews, slotsFor, type JobSpec } from '../../src/index.ts';
import { I, J, job, N, Stage, T } from './stage.ts';

const WASM = { runs: ['wasm'] } as const;
const SCRIPTS = { runs: ['typescript'] } as const;
const script = (size: number, n: number, over: Partial<JobSpec> = {}): JobSpec => job(size, { id: J(n), ...over });
const c = (size: number, n: number, over: Partial<JobSpec> = {}): JobSpec =>
  job(size, { id: J(n), program: { language: 'c', entry: 'main.c', hash: '1'.repeat(64) }, ...over });
/** As 'job.task.incarnation@node'. */
const placed = (s: Stage): string[] =>
  s.of('assign').map((a) => `${Number(a.job.slice(3))}.${a.task}.${a.incarnation}@${Number(a.node.slice(4))}`);

describe('placement', () => {
  it('D20: ranks go only to nodes that run their kind; C, C++ and modules are one kind', () => {
    const s = new Stage();
    s.come(1, 4, WASM);
    s.send('submit', { job: script(1, 1) });
    expect(placed(s)).toEqual([]);
    for (const [n, language] of (['c', 'c++', 'wasm'] as const).entries())
      s.send('submit', { job: c(1, 2 + n, { program: { language, entry: 'a', hash: '1'.repeat(64) } }) });
    expect(placed(s)).toEqual(['2.0.0@1', '3.0.0@1', '4.0.0@1']);
    s.come(2, 1);
    expect(placed(s).at(-1)).toBe('1.0.0@2');
    s.come(3, 4, WASM);
    s.send('goodbye', { connection: 'c2', reason: 'closed' });
    expect(s.view(J(1)).state).toBe('stalled');
    s.come(4, 1, SCRIPTS);
    expect(placed(s).at(-1)).toBe('1.0.1@4');
  });

  it('a node that does not tell runs everything, as nodes did before they told', () => {
    const s = new Stage();
    s.come(1, 2);
    s.send('submit', { job: script(1, 1) });
    s.send('submit', { job: c(1, 2) });
    expect(placed(s)).toEqual(['1.0.0@1', '2.0.0@1']);
    expect(nodeViews(s.dispatcher)[0]!.runs).toEqual(['wasm', 'typescript']);
  });

  it('where work of another kind waits, nodes that run only this kind come first; else ranks are spread as ever', () => {
    const s = new Stage();
    s.come(1, 2);
    s.come(2, 1, WASM);
    // Nobody else waits: the node with the most free slots.
    s.send('submit', { job: c(1, 1) });
    expect(placed(s)).toEqual(['1.0.0@1']);
    s.exit(0, { code: 0 }, J(1));
    // Both begin at once, although the one in C is first and the tab has more room.
    s.send('slots', { connection: 'c1', slots: 0 });
    s.send('slots', { connection: 'c2', slots: 0 });
    s.send('submit', { job: c(1, 2) });
    s.send('submit', { job: script(2, 3) });
    s.send('goodbye', { connection: 'c1', reason: 'closed' });
    s.send('slots', { connection: 'c2', slots: 1 });
    expect(placed(s).at(-1)).toBe('2.0.0@2');
    s.come(3, 2);
    expect(placed(s).slice(-2).sort()).toEqual(['3.0.0@3', '3.1.0@3']);
  });

  it('jobs of another kind that have ended, or have all their ranks placed, do not wait', () => {
    const s = new Stage();
    s.come(1, 4);
    s.send('submit', { job: script(1, 1) });
    s.exit(0, { code: 0 }, J(1));
    s.come(2, 1, WASM);
    s.send('submit', { job: c(1, 2) });
    expect(placed(s).at(-1)).toBe('2.0.0@1');
    s.send('submit', { job: script(1, 3) });
    s.send('submit', { job: c(1, 4) });
    expect(placed(s).slice(-2)).toEqual(['3.0.0@1', '4.0.0@1']);
  });

  it('lost ranks of two kinds both find a slot when there is one for each, whichever is asked first', () => {
    const s = new Stage();
    s.come(1, 2);
    s.send('submit', { job: c(1, 1) });
    s.send('submit', { job: script(1, 2) });
    s.come(2, 1);
    s.come(3, 1, WASM);
    s.send('submit', { job: c(2, 3) });
    s.send('goodbye', { connection: 'c1', reason: 'closed' });
    expect([s.view(J(1)).state, s.view(J(2)).state]).toEqual(['stalled', 'stalled']);
    // The end of a job frees a slot of either kind in one step. The tab is here longest, and the rank in C comes first.
    s.send('cancel', { job: J(3) });
    expect(placed(s).slice(-2)).toEqual(['1.0.1@3', '2.0.1@2']);
  });

  it('D20: a node that no longer runs the kind when everyone has fenced gets nothing', () => {
    const s = new Stage();
    s.hold.add('fenceCm');
    s.come(1, 1);
    s.send('submit', { job: script(1, 1) });
    s.come(1, 1, { ...WASM, claimed: N(1), session: 's1' });
    s.release();
    expect(placed(s)).toEqual([]);
    expect(s.view(J(1))).toMatchObject({ state: 'stalled' });
    expect(s.view(J(1)).faults).toEqual([]);
  });
});

describe('the queue', () => {
  it('D4: a job that waits for one kind of nodes leaves the others to those behind it', () => {
    const s = new Stage();
    s.come(1, 2, WASM);
    s.come(2, 1);
    s.send('submit', { job: script(2, 1) });
    // It fits only with the tab's slot, which the first one may use: it waits, too.
    s.send('submit', { job: c(3, 2) });
    expect(placed(s)).toEqual([]);
    expect(s.view(J(2)).reason).toBe('waits behind 1 job; needs 3 slots; 3 of 3 are free');
    s.send('cancel', { job: J(2) });
    s.send('submit', { job: c(2, 3) });
    expect(placed(s).sort()).toEqual(['3.0.0@1', '3.1.0@1']);
    expect(s.view(J(1)).reason).toBe('needs 2 slots; 1 available');
    // Two of its own kind behind it wait in their order.
    s.send('submit', { job: script(1, 4) });
    expect(s.view(J(4)).reason).toBe('waits behind 1 job; needs 1 slot; 1 of 1 is free');
    s.come(3, 2);
    expect(placed(s).slice(2).sort()).toEqual(['1.0.0@3', '1.1.0@2', '4.0.0@3']);
  });

  it('D4: a stream of short jobs in C does not starve a TypeScript job that waits for tabs', () => {
    const s = new Stage();
    s.come(1, 1);
    s.send('submit', { job: c(1, 1) });
    s.send('submit', { job: script(2, 2) });
    s.send('submit', { job: c(1, 3) });
    s.come(2, 1);
    s.exit(0, { code: 0 }, J(1));
    expect(placed(s).slice(1).sort()).toEqual(['2.0.0@1', '2.1.0@2']);
  });

  it('D4: a lost rank that waits for tabs keeps new jobs from tabs, and from nothing else', () => {
    const s = new Stage();
    s.come(1, 1);
    s.send('submit', { job: script(1, 1) });
    s.send('goodbye', { connection: 'c1', reason: 'closed' });
    s.send('submit', { job: c(1, 2) });
    s.send('submit', { job: script(1, 3) });
    s.come(2, 1, WASM);
    expect(placed(s).at(-1)).toBe('2.0.0@2');
    s.come(3, 1);
    expect(placed(s).at(-1)).toBe('1.0.1@3');
    expect(s.view(J(3)).state).toBe('waiting');
  });

  it('a job begins with the slots that it can use for its universe, and spawned ranks are granted no others', () => {
    const s = new Stage();
    s.come(1, 2);
    s.come(2, 5, WASM);
    s.send('submit', { job: script(1, 1, { capacity: 8 }) });
    expect((s.registry.get(`job/${J(1)}`) as { universe: number }).universe).toBe(2);
    expect(slotsFor(s.dispatcher, J(1))).toBe(1);
  });

  it('a brief grace ends only for a free slot that the rank can have', () => {
    const s = new Stage({ graceMs: 3000, briefGraceMs: 400 });
    s.come(1, 1);
    s.send('submit', { job: script(1, 1) });
    s.come(2, 4, WASM);
    s.send('disconnected', { connection: 'c1' });
    s.pass(1000, { c2: [] });
    expect(s.view(J(1)).faults).toEqual([]);
    s.come(3, 1);
    s.pass(250, { c2: [], c3: [] });
    expect(placed(s).at(-1)).toBe('1.0.1@3');
  });
});

describe('what the submitter reads', () => {
  it('says when slots are free only at nodes that do not run the program, and what to do', () => {
    const s = new Stage();
    s.come(1, 3, WASM);
    s.send('submit', { job: script(2, 1) });
    const todo =
      'free, but on volunteers that do not run TypeScript: open the volunteer page in a browser, or start ' +
      '"mayfly volunteer" with --allow-typescript';
    expect(s.view(J(1)).reason).toBe(`needs 2 slots for TypeScript; none available; 3 more slots are ${todo}`);
    s.come(2, 1);
    expect(s.view(J(1)).reason).toBe(`needs 2 slots for TypeScript; 1 available; 3 more slots are ${todo}`);
    s.come(3, 1);
    expect(s.view(J(1)).reason).toBeUndefined();
    s.send('goodbye', { connection: 'c3', reason: 'closed' });
    expect(s.view(J(1)).reason).toBe(`rank 1 waits for a slot; 3 more slots are ${todo}`);
    s.send('goodbye', { connection: 'c2', reason: 'closed' });
    s.send('slots', { connection: 'c1', slots: 1 });
    expect(s.view(J(1)).reason).toBe(
      `ranks 0, 1 wait for slots; no node that runs TypeScript is connected; 1 more slot is ${todo}`,
    );
  });
});

describe('a deadlock', () => {
  it('is asked again only of nodes that run the program', () => {
    const s = new Stage();
    s.come(1, 1);
    s.send('submit', { job: script(1, 1) });
    s.come(2, 1, WASM);
    s.send('heartbeat', { connection: 'c1', tasks: [s.beat(0, 0, { state: 'waiting', call: 'MPI_Recv' }, J(1))] });
    s.send('deadlock', { job: J(1), report: 'it waits' });
    expect(s.view(J(1))).toMatchObject({ state: 'failed', error: { code: 'DEADLOCK' } });
  });
});

describe('a node that declines', () => {
  it('is believed: the rank goes elsewhere, nothing of the kind comes back, and the program has not crashed', () => {
    const s = new Stage({ crashLimit: 1 });
    s.come(1, 2);
    s.send('submit', { job: script(1, 1) });
    const decline = (connection: string, inc: number) =>
      s.send('report', {
        connection,
        job: J(1),
        task: T(0),
        incarnation: I(inc),
        event: 'refused',
        error: { code: 'PROGRAM_REFUSED', message: 'this node runs WebAssembly programs only' },
      });
    decline('c1', 0);
    expect(s.view(J(1))).toMatchObject({ state: 'stalled', faults: [{ task: 0, incarnation: 0, cause: 'declined' }] });
    expect(nodeViews(s.dispatcher)[0]!.runs).toEqual(['wasm']);
    for (let n = 2; n < 6; n++) {
      s.come(n, 1);
      decline(`c${n}`, n - 1);
    }
    expect(s.view(J(1)).state).toBe('stalled');
    expect(placed(s)).toEqual(['1.0.0@1', '1.0.1@2', '1.0.2@3', '1.0.3@4', '1.0.4@5']);
    s.come(9, 1);
    expect(placed(s).at(-1)).toBe('1.0.5@9');
    // Another refusal is held against its node, which waits before it is given anything again.
    s.send('report', {
      connection: 'c9',
      job: J(1),
      task: T(0),
      incarnation: I(5),
      event: 'refused',
      error: { code: 'BAD_MODULE', message: 'no module' },
    });
    s.come(10, 1);
    expect(s.view(J(1)).faults.at(-1)).toMatchObject({
      cause: 'refused',
      error: expect.stringContaining('BAD_MODULE') as string,
      newcomer: true,
    });
    expect(placed(s).at(-1)).toBe('1.0.6@10');
  });
});
