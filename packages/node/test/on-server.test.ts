/** Headless nodes against a real server: the whole path of a message, a file, an image and a restart. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startHeadlessNode } from '../src/headless/index.ts';
import { Bench, deafProxy, HOLD } from './harness.ts';

const bench = new Bench();
beforeAll(() => bench.start());
afterEach(() => bench.clear());
afterAll(() => bench.close());

describe('headless nodes', () => {
  it('run a program of messages of all sizes', async () => {
    await bench.node(2);
    await bench.node(2);
    const id = await bench.submit(
      `import { COMM_WORLD as comm, SUM } from 'mayfly';
       const right = (comm.rank + 1) % comm.size,
         left = (comm.rank + comm.size - 1) % comm.size;
       for (const n of [0, 1, 7, 1000, 8192, 8193, 100_000, 3_000_000]) {
         const a = new Float64Array(n).map((_, i) => comm.rank * 1e7 + i),
           b = new Float64Array(n);
         const s = comm.sendrecv(a, right, 5, b, left, 5);
         if (s.count(Float64Array) !== n || !b.every((x, i) => x === left * 1e7 + i))
           throw new Error('damaged at ' + n);
       }
       console.log('sum', comm.allreduce(comm.rank + 1, SUM));`,
      4,
    );
    const { job, stdout } = await bench.ended(id);
    expect(job.error).toBeUndefined();
    expect(stdout).toEqual(Array(4).fill('sum 10\n'));
  });

  // A receive can wait for tag B behind 10 GB of tag A: envelopes are consumed, bodies stay in the log
  // (docs/pessimistic.md, flow control).
  it('find a message of tag B behind a flood of tag A, in bounded memory', async () => {
    await bench.node(1);
    await bench.node(1);
    const id = await bench.submit(
      `import { COMM_WORLD as comm } from 'mayfly';
       const N = 120,
         a = new Float64Array(40_000);
       if (comm.rank === 0) {
         for (let k = 0; k < N; k++) comm.send(a.fill(k), 1, 1);
         comm.send(new Float64Array([42]), 1, 2);
         comm.recv(a, 1, 3);
         console.log('answered', a[0]);
       } else {
         const b = new Float64Array(1);
         comm.recv(b, 0, 2);
         for (let k = 0; k < N; k++) {
           comm.recv(a, 0, 1);
           if (a[0] !== k || a[39_999] !== k) throw new Error('damaged ' + k);
         }
         comm.send(b, 0, 3);
       }`,
      2,
    );
    const { job, stdout } = await bench.ended(id);
    expect(job.error).toBeUndefined();
    expect(stdout[0]).toBe('answered 42\n');
  });

  it('go on by themselves when their machine has slept, and say for how long', async () => {
    let slept = 0;
    bench.nodes.push(
      await startHeadlessNode({
        server: bench.server.url,
        allowTypeScript: true,
        slots: 2,
        name: 'laptop',
        now: () => Date.now() + slept,
        onNote: (text) => bench.notes.push(text),
      }),
    );
    const id = await bench.submit(
      `import { COMM_WORLD as comm, stdin } from 'mayfly'; ${HOLD} console.log('awake', comm.rank);`,
      2,
      { options: { interactive: true } },
    );
    await bench.until(id, (j) => j.tasks.every((t) => t.state === 'running' && t.activity?.state === 'waiting'));
    slept = 3_600_000;
    await expect.poll(() => bench.notes.join()).toMatch(/This tab was suspended for 3[56]\d\d s/);
    await bench.input(id);
    const { job, stdout } = await bench.ended(id);
    expect(job.error).toBeUndefined();
    expect(stdout).toEqual(['awake 0\n', 'awake 1\n']);
  });

  it('give a program its arguments, files, standard input, clock, random numbers and the name of its place', async () => {
    await bench.node(2, 'lab 3');
    const id = await bench.submit(
      `import { COMM_WORLD as comm, args, files, processorName, stdin } from 'mayfly';
       const t0 = performance.now();
       console.log(args.join(), files.readText('in/a.txt'), files.list().join());
       if (comm.rank === 0) console.log(stdin.readAll().toUpperCase());
       const d = new Date();
       console.log(
         typeof Math.random(),
         Math.random() !== Math.random(),
         crypto.getRandomValues(new Uint8Array(4)).length,
       );
       console.log(
         d.getTimezoneOffset(),
         String(new Date(0)),
         new Date(2020, 0, 2).toISOString(),
         (1234567.891).toLocaleString(),
         Math.abs(Date.now() - ${Date.now()}) < 60000,
       );
       console.log(performance.now() >= t0, Math.sin(1));
       console.log(processorName());
       files.write('out/' + comm.rank + '.txt', 'hello');`,
      2,
      { args: ['x', 'y'], files: { 'in/a.txt': 'file text' }, stdin: 'abc' },
    );
    const { job, stdout } = await bench.ended(id);
    expect(job.error).toBeUndefined();
    const rest =
      'number true 4\n0 Thu Jan 01 1970 00:00:00 GMT+0000 (Coordinated Universal Time) ' +
      '2020-01-02T00:00:00.000Z 1,234,567.891 true\ntrue 0.8414709848078965\nlab 3 (Node ' +
      process.versions.node.split('.').slice(0, 2).join('.') +
      ')\n';
    expect(stdout).toEqual([`x,y file text in/a.txt\nABC\n${rest}`, `x,y file text in/a.txt\n${rest}`]);
    expect(job.outputs.map((o) => o.path).sort()).toEqual(['out/0.txt', 'out/1.txt']);
  });

  it('say of everything that a program may not have that it does not exist, and why', async () => {
    await bench.node(1);
    const id = await bench.submit(
      `const g = globalThis as any;
       for (const use of [
         () => g.setTimeout(() => 0, 1),
         () => g.fetch('x'),
         () => new g.Worker('x'),
         () => new g.WebSocket('x'),
         () => g.process.exit(),
         () => g.Atomics.wait,
         () => new g.SharedArrayBuffer(8),
         () => g.require('fs'),
         () => g.WebAssembly.Module,
         () => new g.WeakRef({}),
         () => g.eval('1'),
         () => (() => 0).constructor('return 1')(),
         () => g.Buffer.from('x'),
       ])
         try {
           use();
           console.log('NO');
         } catch (e) {
           console.log((e as Error).message);
         }
       console.log(
         Object.getOwnPropertyNames(g)
           .filter((n) => /process|require|module|gc|global$/.test(n))
           .join(),
       );`,
      1,
    );
    const { job, stdout } = await bench.ended(id);
    expect(job.error).toBeUndefined();
    expect(stdout[0]).not.toContain('NO');
    expect(stdout[0]).toContain('timers do not exist in an MPI program');
    expect(stdout[0]!.split('\n').filter((l) => l.length > 20)).toHaveLength(13);
  });

  it('spawn more processes of the same program', async () => {
    await bench.node(3);
    const id = await bench.submit(
      `import { APPNUM, COMM_WORLD as comm, args, getParent, ERRORS_RETURN, ERR_SPAWN, MPIError, SUM } from 'mayfly';
       const parent = getParent();
       if (parent) {
         console.log('child', comm.rank, 'of', comm.size, 'part', APPNUM, args.join());
         parent.sendObject({ from: comm.rank }, 0, 1);
         parent.merge(true).allreduce(comm.rank, SUM);
         parent.disconnect();
       } else {
         comm.setErrhandler(ERRORS_RETURN);
         try { comm.spawn([], 3); } catch (e) { console.log(e instanceof MPIError && e.errorClass === ERR_SPAWN); }
         const children = comm.spawnMultiple([{ args: ['a', 'b'] }, { args: ['c'], maxprocs: 1 }]);
         for (let i = 0; i < children.remoteSize; i++) console.log(JSON.stringify(children.recvObject(i, 1).value));
         console.log(children.merge().allreduce(5, SUM), getParent());
         children.disconnect();
       }`,
      1,
    );
    const { job, stdout } = await bench.ended(id);
    expect(job.error).toBeUndefined();
    expect(stdout).toEqual([
      'true\n{"from":0}\n{"from":1}\n6 null\n',
      'child 0 of 2 part 0 a,b\n',
      'child 1 of 2 part 1 c\n',
    ]);
  });

  it('report an uncaught error with its stack, an exit code, an abort', async () => {
    const node = await bench.node(2);
    const thrown = await bench.ended(
      await bench.submit(
        `import { COMM_WORLD as comm } from 'mayfly';\nfunction f(): never {\n  throw new Error('no ` +
          `luck');\n}\nif (comm.rank === 1) f();\ncomm.barrier();`,
        2,
      ),
    );
    expect(thrown.job.state).toBe('failed');
    expect(thrown.job.error).toMatchObject({ code: 'PROGRAM_ERROR' });
    expect(JSON.stringify(thrown.job.error)).toContain('no luck');
    const ends = (): (string | undefined)[] =>
      node.snapshot().history.flatMap((e) => (/^(finished|failed)$/.test(e.kind) ? [`${e.kind} ${e.task}`] : []));
    await expect.poll(ends).toEqual(['failed 1']);
    const code = await bench.ended(
      await bench.submit(`import { exit, COMM_WORLD as comm } from 'mayfly'; exit(comm.rank * 3);`, 2),
    );
    expect(code.job.exitCode).toBe(3);
    await expect.poll(() => ends().toSorted()).toEqual(['failed 1', 'finished 0', 'finished 1']);
    expect(node.snapshot().gave.finished).toBe(2);
    const deep = await bench.ended(await bench.submit(`const f = (n: number): number => f(n + 1) + 1; f(0);`, 1));
    expect(JSON.stringify(deep.job.error)).toMatch(/call stack|recursion/i);
    const heap = await bench.ended(
      await bench.submit(`const all: number[][] = []; for (;;) all.push(new Array(100000).fill(1.5));`, 1),
    );
    expect(heap.job.error?.code).toBe('KEEPS_CRASHING');
    expect(heap.job.error?.message).toContain('out of memory');
  });

  it('end a rank whose arrays outgrow the machine, and no other', async () => {
    bench.nodes.push(
      await startHeadlessNode({
        server: bench.server.url,
        allowTypeScript: true,
        slots: 2,
        name: 'small',
        memoryBytes: process.memoryUsage().rss + 500 * 1048576,
      }),
    );
    // It waits meanwhile, and computes until it is cancelled.
    const modest = await bench.submit(
      `import { COMM_WORLD as comm, stdin } from 'mayfly'; ${HOLD} console.log('on'); for (let i = 0; comm.size > 0; i++);`,
      1,
      { options: { interactive: true } },
    );
    await bench.until(modest, (j) => j.tasks[0]!.activity?.state === 'waiting');
    const greedy = await bench.ended(
      await bench.submit(
        `const all: Float64Array[] = []; for (;;) all.push(new Float64Array(4_000_000).fill(1.5));`,
        1,
      ),
    );
    expect(greedy.job.error?.code).toBe('KEEPS_CRASHING');
    expect(greedy.job.error?.message).toContain('out of memory');
    expect((await bench.view(modest)).tasks[0]!.incarnation).toBe(0);
    await bench.input(modest);
    // What it has printed may come later than what it does.
    await bench.until(modest, (j) => j.tasks[0]!.activity?.state === 'computing' && j.outputBytes > 0);
    await bench.api(`jobs/${modest}/cancel`, { method: 'POST' });
    const cancelled = await bench.ended(modest);
    expect(cancelled.job.state).toBe('cancelled');
    expect(cancelled.stdout).toEqual(['on\n']);
  });
});

describe('a network that breaks WebSockets', () => {
  it('gets long polling, for control, for data and for images', async () => {
    const proxy = await deafProxy(bench.server.url);
    bench.nodes.push(
      await startHeadlessNode({ server: proxy.url, allowTypeScript: true, slots: 2, name: 'behind the proxy' }),
    );
    const id = await bench.submit(
      `import { COMM_WORLD as comm, SUM, checkpoint, stdin } from 'mayfly';
         const a = Float64Array.from({ length: 30000 }, (_, i) => (i === 29999 ? comm.rank : i * Math.PI)),
           b = new Float64Array(30000);
         checkpoint.register('a', a);
         if (checkpoint.open().restarted) checkpoint.rollback('a');
         checkpoint.here(true);
         for (let k = 0; k < 5; k++) comm.sendrecv(a, 1 - comm.rank, 1, b, 1 - comm.rank, 1);
         console.log(b[29999], comm.allreduce(1, SUM));
         ${HOLD}`,
      2,
      { options: { interactive: true } },
    );
    await bench.until(id, (j) => j.endedAt !== undefined || j.tasks.every((t) => t.images >= 1));
    await bench.input(id);
    const { job, stdout } = await bench.ended(id);
    expect(job.error).toBeUndefined();
    expect(stdout).toEqual(['1 2\n', '0 2\n']);
    expect(proxy.upgrades()).toBeGreaterThan(0);
    await bench.clear();
    await proxy.close();
  });
});

// Images: one at the first step, one at step 300 at the latest, whatever the machine's speed.
const RING = `import { COMM_WORLD as comm, checkpoint, stdin, tool } from 'mayfly';
  const began = tool.read('incarnation');
  const state = { step: 0, sum: 0, at: 0 }; const x = new Float64Array(20000);
  checkpoint.register('state', state); checkpoint.register('x', x);
  if (checkpoint.open().restarted) { checkpoint.rollback('state'); checkpoint.rollback('x'); }
  const right = (comm.rank + 1) % comm.size, left = (comm.rank + comm.size - 1) % comm.size;
  const b = new Float64Array(3);
  for (; state.step < 400; state.step++) {
    checkpoint.here(state.step % 150 === 0);
    let w = 0; for (let i = 0; i < 300_000; i++) w += Math.sqrt(i); if (w < 0) console.log(w);
    comm.send(new Float64Array([state.step, Math.sin(state.step), state.sum]), right);
    comm.recv(b, left);
    state.sum += b[1]! * (left + 1) + Math.cos(b[2]!) + Math.random();
    x[state.step] = state.sum;
    if (performance.now() < state.at) console.log('the clock began again');
    state.at = performance.now();
    if (state.step % 100 === 99) console.log(state.step, state.sum);
  }
  ${HOLD}
  console.log('incarnations', began, tool.read('incarnation'));`;
const HELD = { options: { checkpointMs: 200, interactive: true } };

describe('faults', () => {
  it('a killed node and one that says goodbye: the same answer, from images, and each line once', async () => {
    await bench.node(2);
    const undisturbed = await bench.submit(RING, 2, HELD);
    await bench.input(undisturbed);
    const calm = await bench.ended(undisturbed);
    expect(calm.job.error).toBeUndefined();
    const a = await bench.node(1);
    const b = await bench.node(1);
    await Promise.all(bench.nodes.splice(0, 1).map((n) => n.close()));
    const id = await bench.submit(RING, 2, HELD);
    await bench.until(id, (j) => j.tasks.every((t) => t.images >= 2));
    a.kill();
    await bench.node(1, 'third');
    await bench.recovered(id, 1);
    await b.close();
    await bench.node(1, 'fourth');
    await bench.recovered(id, 2);
    await bench.input(id);
    const { job, stdout } = await bench.ended(id);
    expect(job.error).toBeUndefined();
    // What was read stays so, whoever reads it again.
    expect([calm.stdout, stdout].map((all) => all.map((s) => s.split('\n')[4]))).toEqual([
      ['incarnations 0 0', 'incarnations 0 0'],
      ['incarnations 0 1', 'incarnations 0 1'],
    ]);
    expect(stdout.map((s) => s.split('\n').length)).toEqual([6, 6]);
    // The seed is the job's: random draws differ between jobs, steps do not.
    expect(stdout.map((s) => s.replace(/ .*/g, ''))).toEqual(calm.stdout.map((s) => s.replace(/ .*/g, '')));
    expect(job.faults.map((f) => f.cause)).toEqual(['disconnected', 'goodbye']);
    expect(job.tasks.map((t) => t.incarnation)).toEqual([1, 1]);
    for (const f of job.faults) expect(f.recoveredAfterMs).toBeDefined();
    console.log(
      job.faults.map((f) => `${f.cause}: task ${f.task} recovered after ${f.recoveredAfterMs} ms`).join('; '),
    );
  });

  it('progress that a program states: the least of its ranks, and no way back while a killed one repeats work', async () => {
    const a = await bench.node(1);
    const id = await bench.submit(
      `import { COMM_WORLD as comm, stdin } from 'mayfly';
      comm.progress(1 + comm.rank, 8);
      const go = (): void => { if (comm.rank === 0) stdin.readLine(); comm.barrier(); };
      go();
      comm.progress(0.5);
      go();
      comm.progress(3, 4);
      go();
      console.log('done');`,
      2,
      { options: { interactive: true } },
    );
    await bench.node(1);
    await bench.until(id, (j) => j.progress?.fraction === 0.125);
    await bench.input(id);
    await bench.until(id, (j) => j.progress?.fraction === 0.5);
    await bench.input(id);
    const before = await bench.until(id, (j) => j.progress?.fraction === 0.75);
    expect(before.progress).toEqual({ fraction: 0.75, repeating: [] });
    a.kill();
    const lost = await bench.until(id, (j) => j.tasks.some((t) => t.state === 'unassigned'));
    const task = lost.tasks.find((t) => t.state === 'unassigned')!.task;
    expect(lost.progress).toEqual({ fraction: 0.75, repeating: [task] });
    await bench.node(1, 'third');
    const back = await bench.until(id, (j) => j.progress?.repeating.length === 0);
    expect(back.progress!.fraction).toBe(0.75);
    await bench.input(id);
    const { job, stdout } = await bench.ended(id);
    expect(stdout).toEqual(['done\n', 'done\n']);
    expect(job).not.toHaveProperty('progress');
    expect(job.faults).toHaveLength(1);
  });

  it(
    'a paused job gives its slots back with images, is paused still after a restart of the server, and goes ' +
      'on, without a fault',
    async () => {
      await bench.node(1);
      // In its first life it goes round until the pause takes it away; a rank that has no image knows of no first life.
      const id = await bench.submit(
        `import { checkpoint } from 'mayfly';
       const state = { step: 0 };
       checkpoint.register('state', state);
       const { restarted } = checkpoint.open();
       if (restarted) checkpoint.rollback('state');
       while (!restarted) { checkpoint.here(); if (state.step++ === 0) console.log('a step'); }
       console.log('went on behind step', state.step > 0 ? 'one' : 'none');`,
        1,
      );
      await bench.until(id, (j) => j.outputBytes > 0);
      await bench.api(`jobs/${id}/pause`, { method: 'POST', body: '{"waitMs":600000}' });
      const paused = await bench.until(id, (j) => j.state === 'paused');
      expect(paused).toMatchObject({
        reason: 'will resume from its checkpoint',
        faults: [],
        tasks: [{ state: 'paused' }],
      });
      expect(paused.tasks[0]!.images).toBeGreaterThan(0);
      const here = ((await (await bench.api('nodes')).json()) as { state: string; busy: number }[]).filter(
        (n) => n.state === 'here',
      );
      expect(here.map((n) => n.busy)).toEqual([0]);
      const { port } = new URL(bench.server.url);
      await bench.server.close();
      await bench.start(Number(port));
      expect(await bench.view(id)).toMatchObject({ state: 'paused', faults: [] });
      await bench.api(`jobs/${id}/resume`, { method: 'POST' });
      const { job, stdout } = await bench.ended(id);
      expect(job).toMatchObject({ state: 'done', faults: [], tasks: [{ incarnation: 1 }] });
      expect(job.pausedMs).toBeGreaterThan(0);
      expect(stdout).toEqual(['a step\nwent on behind step one\n']);
      await expect(bench.api(`jobs/${id}/pause`, { method: 'POST' })).rejects.toThrow('409');
    },
  );

  it('a server that goes and comes back: nodes keep their ranks, nothing is lost', async () => {
    await bench.node(1);
    await bench.node(1);
    const id = await bench.submit(RING, 2, HELD);
    await bench.until(id, (j) => j.tasks.every((t) => t.images >= 1));
    const { port } = new URL(bench.server.url);
    await bench.server.close();
    await bench.start(Number(port));
    await bench.input(id);
    const { job, stdout } = await bench.ended(id);
    expect(job.error).toBeUndefined();
    expect(job.tasks.map((t) => t.incarnation)).toEqual([0, 0]);
    expect(stdout.map((s) => s.split('\n').length)).toEqual([6, 6]);
  });
});
