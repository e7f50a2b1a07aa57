/** `mayfly volunteer` as a process: what protects it, and that nothing of it is left when it is killed. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { run, said, start, startService } from './built.ts';

const cwd = mkdtempSync(join(tmpdir(), 'mayfly-volunteer-'));
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

describe('mayfly volunteer --check', () => {
  it('tries what protects this machine, without a server; the exit code says whether anything got through', async () => {
    const plain = await run(['volunteer', '--check', '--sandbox', 'process'], { cwd });
    expect(plain.stdout).toMatch(/Node's permission model \(v[\d.]+\)\s+yes\s+denied: read a file/);
    expect(plain.code).toBe(plain.stdout.includes('GOT THROUGH') ? 1 : 0);
    const none = await run(['volunteer', '--check', '--sandbox', 'none'], { cwd });
    expect(none).toMatchObject({ code: 1 });
    expect(none.stdout).toContain('jobs run in this process');
  });

  it('says what to install when what is asked for is not there', async () => {
    const missing = await run(['volunteer', '--check', '--sandbox', 'bwrap'], { cwd, env: { PATH: '/nowhere' } });
    expect(missing).toMatchObject({ code: 1 });
    expect(missing.stderr).toMatch(/apt install bubblewrap|exists on Linux only/);
    const refused = await run(['volunteer', 'http://127.0.0.1:9', '--sandbox', 'bwrap'], {
      cwd,
      env: { PATH: '/nowhere' },
    });
    expect(refused).toMatchObject({ code: 1 });
    expect(refused.stderr).toMatch(/apt install bubblewrap|exists on Linux only/);
    expect(await run(['volunteer'], { cwd })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('the URL of the server is missing') as string,
    });
  });
});

const read = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
};
const below = (pid: number): number[] =>
  read(`/proc/${pid}/task/${pid}/children`)
    .split(' ')
    .filter(Boolean)
    .map(Number)
    .flatMap((p) => [p, ...below(p)]);
const lives = (pid: number): boolean => /^State:\s*[^ZX]/m.test(read(`/proc/${pid}/status`));

describe.skipIf(process.platform !== 'linux')('a volunteer that is killed', () => {
  it.each(['auto', 'process'])('leaves no process of a job behind (--sandbox %s)', async (sandbox) => {
    const service = await startService(cwd);
    try {
      const volunteer = start(['volunteer', service.url, '--slots', '1', '--name', 'doomed', '--sandbox', sandbox], {
        cwd,
        input: '',
      });
      await said(volunteer, /(each job runs in a process of its own)/);
      // The spare one, ready for the next job.
      const frames = (): number[] =>
        below(volunteer.child.pid!).filter((pid) => read(`/proc/${pid}/cmdline`).includes('/frame.cjs'));
      await expect.poll(frames).not.toEqual([]);
      const all = below(volunteer.child.pid!);
      volunteer.child.kill('SIGKILL');
      await volunteer.ended;
      await expect.poll(() => all.filter(lives)).toEqual([]);
    } finally {
      await service.stop();
    }
  });
});
