/**
 * What goes by itself, and what must not: the rule as a property, and a removal beside a job that shares every page
 * with the removed one.
 */
import fc from 'fast-check';
import type { MayflyServer } from '@mayfly/server';
import { startHeadlessNode, type HeadlessNode } from '@mayfly/node/headless';
import { jobId, type JobView, type Manifest } from '@mayfly/wire';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openEmbeddedStorage, type Storage } from '@mayfly/storage';
import { describe, expect, it, vi } from 'vitest';
import { expired } from '../src/retention.ts';
import { api, freshDir, later, program, startServer, until } from './harness.ts';
import { Volunteer } from './volunteer.ts';

describe('the rule', () => {
  const ended = fc.uniqueArray(
    fc.record({ job: fc.stringMatching(/^[0-9a-z]{12}$/).map(jobId), endedAt: fc.nat(1000) }),
    { selector: (e) => e.job, maxLength: 30 },
  );

  it(
    'names ended jobs only, each once; keeps the newest, as many as may stay; the young stay unless there are ' +
      'too many',
    () => {
      fc.assert(
        fc.property(ended, fc.nat(1000), fc.nat(40), fc.nat(2000), (list, ageMs, endedJobs, now) => {
          const before = structuredClone(list);
          const gone = expired(list, { ageMs, endedJobs }, now);
          expect(list).toEqual(before);
          expect(new Set(gone).size).toBe(gone.length);
          const [out, kept] = [list.filter((e) => gone.includes(e.job)), list.filter((e) => !gone.includes(e.job))];
          expect(out.length).toBe(gone.length);
          expect(kept.length).toBeLessThanOrEqual(endedJobs);
          for (const k of kept) expect(now - k.endedAt).toBeLessThanOrEqual(ageMs);
          // Nobody goes while an older one stays.
          for (const o of out) for (const k of kept) expect(o.endedAt).toBeLessThanOrEqual(k.endedAt);
          // Nobody goes without a reason.
          for (const o of out)
            expect(now - o.endedAt > ageMs || list.filter((e) => e.endedAt >= o.endedAt).length > endedJobs).toBe(true);
        }),
        { numRuns: 500 },
      );
    },
  );
});

/** Twelve pages that are the same in every image of every job. */
const PROGRAM = `
import { COMM_WORLD as comm, checkpoint, stdin } from 'mayfly';
const state = { step: 0, sum: 0 };
const same = Float64Array.from({ length: 100_000 }, (_, i) => i);
const got = new Float64Array(1);
checkpoint.register('same', same);
checkpoint.register('state', state);
if (checkpoint.open().restarted) { checkpoint.rollback('same'); checkpoint.rollback('state'); }
for (; state.step < 20; state.step++) {
  checkpoint.here();
  comm.send(new Float64Array([state.sum + comm.rank]), 1 - comm.rank);
  comm.recv(got, 1 - comm.rank);
  state.sum = got[0]! + same[state.step]!;
  if (state.step === 10) {
    console.log('middle');
    if (comm.rank === 0) stdin.readLine();
    comm.barrier();
  }
}
console.log('end', state.sum, same.reduce((a, b) => a + b));
comm.barrier();
if (comm.rank === 0) stdin.readLine(); // what it printed is read while it is there
`;

describe('a removal', () => {
  it('takes nothing from a job that runs and shares pages with the removed one', async () => {
    const dataDir = await freshDir();
    const server = await startServer({
      dataDir,
      retention: { ageMs: 0, everyMs: 100 },
      dispatcher: { graceMs: 300, silentMs: 600_000 },
    });
    const notes: string[] = [];
    const node = async (name: string): Promise<HeadlessNode> => {
      const n = await startHeadlessNode({
        server: server.localUrl,
        allowTypeScript: true,
        slots: 2,
        name,
        onNote: (text) => notes.push(text),
      });
      later(() => n.close(0));
      return n;
    };
    const submit = async (): Promise<string> =>
      (
        (
          await api(
            server,
            'POST',
            '/api/jobs',
            program(PROGRAM, 2, { options: { interactive: true, checkpointMs: 1 } }),
          )
        ).body as { id: string }
      ).id;
    const view = async (id: string): Promise<JobView> => (await api(server, 'GET', `/api/jobs/${id}`)).body as JobView;
    const stdout = async (id: string, task: number): Promise<string> =>
      String((await api(server, 'GET', `/api/jobs/${id}/tasks/${task}/stdout`)).body);
    const inTheMiddle = (id: string): Promise<unknown> =>
      until('both wait, with images', async () => {
        const images = (await api(server, 'GET', `/api/jobs/${id}/images`)).body as { task: number }[];
        return (
          (await stdout(id, 0)) === 'middle\n' &&
          (await stdout(id, 1)) === 'middle\n' &&
          new Set(images.map((i) => i.task)).size === 2
        );
      });
    const goOn = (id: string): Promise<unknown> =>
      api(server, 'POST', `/api/jobs/${id}/stdin`, new TextEncoder().encode('go on\n'));
    const manifests = async (id: string): Promise<Manifest[]> => {
      const dir = join(dataDir, 'images/manifests');
      // One that goes meanwhile is not there.
      const texts = await Promise.all(
        (await readdir(dir)).filter((f) => f.startsWith(id)).map((f) => readFile(join(dir, f), 'utf8').catch(() => '')),
      );
      // a checksum follows
      return texts.filter((t) => t !== '').map((t) => JSON.parse(t.slice(0, t.lastIndexOf('}') + 1)) as Manifest);
    };

    const first = await node('a');
    const stays = await submit();
    await inTheMiddle(stays);
    await node('b');
    const goes = await submit();
    await inTheMiddle(goes);
    const pages = new Set((await manifests(stays)).flatMap((m) => m.pages));
    expect(
      (await manifests(goes)).flatMap((m) => m.pages).filter((p) => p !== '' && pages.has(p)).length,
    ).toBeGreaterThan(10);

    await goOn(goes);
    await goOn(goes);
    await until('it is forgotten', async () => (await api(server, 'GET', `/api/jobs/${goes}`)).status === 404);
    await until('its images too', async () => (await manifests(goes)).length === 0);

    await until('every page of the other is there', async () => {
      const left = await manifests(stays);
      const packs = join(dataDir, 'images/packs');
      // Each page's record begins with its hash.
      const stored = Buffer.concat(
        await Promise.all((await readdir(packs)).map((f) => readFile(join(packs, f)).catch(() => Buffer.alloc(0)))),
      );
      return (
        left.length > 0 && left.flatMap((m) => m.pages).every((p) => p === '' || stored.includes(Buffer.from(p, 'hex')))
      );
    });
    // And it needs them now.
    first.kill();
    await until('its ranks are elsewhere', async () => (await view(stays)).tasks.every((t) => t.incarnation > 0));
    await goOn(stays);
    // Their images came in runs of pages.
    expect(notes.filter((n) => n.includes('one by one'))).toEqual([]);
    let end: string[] = [];
    await until('the end', async () =>
      (end = [await stdout(stays, 0), await stdout(stays, 1)]).every((o) => o.includes('end')),
    ).catch(async (e: Error) => {
      throw new Error(`${e.message}: ${JSON.stringify(await view(stays))}`);
    });
    expect(end).toEqual([
      expect.stringMatching(/^middle\nend \d+ 4999950000\n$/),
      expect.stringMatching(/^middle\nend \d+ 4999950000\n$/),
    ]);
  });
});

describe('a clock that is wrong', () => {
  const DAY = 24 * 3600 * 1000;
  const jobs = async (server: MayflyServer): Promise<string[]> =>
    ((await api(server, 'GET', '/api/jobs')).body as { id: string; state: string }[]).map((j) => `${j.id} ${j.state}`);

  /** On a storage that counts its rounds. */
  async function serve(dataDir: string): Promise<{ server: MayflyServer; rounds(n: number): Promise<void> }> {
    const storage = await openEmbeddedStorage({ dataDir });
    let rounds = 0;
    const usage: Storage['usage'] = () => {
      rounds++;
      return storage.usage();
    };
    const server = await startServer({ dataDir, storage: { ...storage, usage }, retention: { everyMs: 20 } });
    return {
      server,
      // Also of the page of the server, which asks every few seconds: more than enough.
      async rounds(n) {
        const to = rounds + n;
        await until(`${n} rounds`, async () => rounds >= to);
      },
    };
  }

  it('N1: that is eight days fast for a while ends, and deletes, nothing', async () => {
    const { server, rounds } = await serve(await freshDir());
    let ends = true;
    new Volunteer(server.localUrl, 1, async (r) => (ends ? r.exit(0) : void (await r.recv())));
    const first = (await api(server, 'POST', '/api/jobs', program('export {};', 1))).body as { id: string };
    await until('it has ended', async () => (await jobs(server))[0] === `${first.id} done`);
    // One that runs, and has a limit.
    ends = false;
    const second = (
      await api(server, 'POST', '/api/jobs', program('export {};', 1, { options: { timeLimitMs: 3600_000 } }))
    ).body as { id: string };
    await until('it runs', async () => (await jobs(server)).includes(`${second.id} running`));
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 8 * DAY });
    later(async () => void vi.useRealTimers());
    await rounds(20);
    expect((await jobs(server)).sort()).toEqual([`${first.id} done`, `${second.id} running`].sort());
    vi.useRealTimers();
  });

  it('N2: a start that far beyond the last one deletes nothing by age, for a day', async () => {
    const dataDir = await freshDir();
    const { server } = await serve(dataDir);
    new Volunteer(server.localUrl, 1, async (r) => r.exit(0));
    const { id } = (await api(server, 'POST', '/api/jobs', program('export {};', 1))).body as { id: string };
    await until('it has ended', async () => (await jobs(server))[0] === `${id} done`);
    await server.close();

    /** As a clock would see it that is eight days ahead; the last server ran until then, or until `at`. */
    const older = async (clock: { at: number; heldMs?: number } | undefined): Promise<void> => {
      const storage = await openEmbeddedStorage({ dataDir });
      const record = (await storage.registry.get(`job/${id}`)) as { endedAt: number };
      const changed = { ...record, endedAt: Date.now() - 8 * DAY };
      await storage.registry.commit([
        [`job/${id}`, changed],
        ['retention/clock', clock],
      ]);
      await storage.close();
    };
    for (const clock of [undefined, { at: Date.now() - 8 * DAY }, { at: Date.now() - 8 * DAY, heldMs: DAY / 2 }]) {
      await older(clock);
      const again = await serve(dataDir);
      await again.rounds(10);
      expect(await jobs(again.server)).toEqual([`${id} done`]);
      await again.server.close();
    }
    // It kept account of the time that it ran.
    const storage = await openEmbeddedStorage({ dataDir });
    expect(((await storage.registry.get('retention/clock')) as { heldMs: number }).heldMs).toBeGreaterThan(DAY / 2);
    await storage.close();

    await older({ at: Date.now() - 8 * DAY, heldMs: DAY });
    const last = await serve(dataDir);
    await until('it is forgotten', async () => (await jobs(last.server)).length === 0);
    await last.server.close();
  });
});
