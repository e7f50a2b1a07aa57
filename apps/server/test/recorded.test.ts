/**
 * Data directories of Mayfly 0.2.0 and later, each with a job in the middle: this version restores them, recovers the
 * job, and ends it with its answer. One folder per format under recorded/, made by recorded/record.test.ts. Once Mayfly
 * 0.2.0 is released, none is ever made again or removed.
 */
import { restoreDirectory } from '@mayfly/storage';
import { startHeadlessNode } from '@mayfly/node/headless';
import type { JobView } from '@mayfly/wire';
import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { api, freshDir, later, startServer, until } from './harness.ts';
import { answers } from './recorded/program.ts';

const ROOT = fileURLToPath(new URL('recorded/', import.meta.url));
const FORMATS = readdirSync(ROOT, { withFileTypes: true })
  .filter((e) => e.isDirectory())
  .map((e) => e.name)
  .sort();

describe('recorded data directories', () => {
  it('there is one of each format that was ever released', () => {
    expect(FORMATS).toEqual(['format-4']);
  });

  it.each(FORMATS)(
    '%s: a job that was killed in the middle goes on from its images and its log, and ends with its answer',
    async (name) => {
      const dataDir = join(await freshDir(), 'data');
      const recorded = join(ROOT, name);
      await restoreDirectory(recorded, dataDir);
      const records = new Map(
        JSON.parse(await readFile(join(recorded, 'registry.json'), 'utf8')) as [string, unknown][],
      );
      const id = [...records.keys()].find((k) => k.startsWith('job/'))!.slice(4);
      // It has what it is there for: images and, behind them, messages.
      const lines = [...records]
        .filter(([k]) => k.startsWith('image/'))
        .map(([, v]) => (v as { position: { at: { image: { arrivals: number } } } }).position.at.image.arrivals);
      expect(lines.filter((arrivals) => arrivals > 10).length).toBeGreaterThanOrEqual(2);
      // The nodes of the record never come back.
      const server = await startServer({
        dataDir,
        dispatcher: { restartGraceMs: 0, silentMs: 600_000, graceMs: 120_000 },
      });
      const before = (await api(server, 'GET', `/api/jobs/${id}`)).body as JobView;
      expect(['running', 'stalled']).toContain(before.state);
      expect((await api(server, 'GET', `/api/jobs/${id}/tasks/0/stdout`)).body).toBe(
        answers()[0]!.stdout.split('\n').slice(0, 5).join('\n') + '\n',
      );
      const images = (await api(server, 'GET', `/api/jobs/${id}/images`)).body as { task: number }[];
      expect(new Set(images.map((i) => i.task))).toEqual(new Set([0, 1]));

      for (const n of ['a', 'b']) {
        const node = await startHeadlessNode({ server: server.localUrl, allowTypeScript: true, slots: 1, name: n });
        later(() => node.close(0));
      }
      await api(server, 'POST', `/api/jobs/${id}/stdin`, new TextEncoder().encode('go on\n'));
      let view = before;
      await until(
        'the end',
        async () =>
          (view = (await api(server, 'GET', `/api/jobs/${id}`)).body as JobView).state !== 'running' &&
          view.state !== 'stalled',
      ).catch((e: Error) => {
        throw new Error(`${e.message}: ${JSON.stringify(view)}`);
      });
      expect([view.state, view.error]).toEqual(['done', undefined]);
      expect(view.tasks.every((t) => t.incarnation > 0)).toBe(true);
      for (const [task, answer] of answers().entries()) {
        expect((await api(server, 'GET', `/api/jobs/${id}/tasks/${task}/stdout`)).body).toBe(answer.stdout);
        expect((await api(server, 'GET', `/api/jobs/${id}/files/sums-${task}.txt`)).body).toBe(answer.sums);
      }
    },
  );
});
