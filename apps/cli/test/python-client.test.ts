/**
 * The Python client (clients/python) against the built server and a real volunteer. It is installed by pip without an
 * index first; Python or pip missing, the tests are skipped, or use the folder itself.
 */
import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run, said, start, startService, type Ended, type Running, type Service } from './built.ts';
import { cutting } from './cutting.ts';

const source = join(import.meta.dirname, '../../../clients/python');
const works = (...args: string[]): boolean => spawnSync('python3', args).status === 0;
const python = works('-c', 'import sys, ssl; sys.exit(sys.version_info < (3, 9))');
if (!python) console.error('skipped: the Python client needs python3, 3.9 or newer');

let dir: string;
let service: Service;
let installed: string;
let ended = false;

const begin = (script: string, env: Record<string, string>): Running =>
  start(['-u', '-c', `import json, sys, mayfly\n${script}`], {
    cwd: dir,
    command: 'python3',
    input: '',
    env: { PYTHONPATH: installed, PYTHONDONTWRITEBYTECODE: '1', ...env },
  });
/** What the script printed as JSON, line by line. */
async function says(script: string, env: Record<string, string> = service.env): Promise<unknown[]> {
  const r = await begin(script, env).ended;
  expect(r.code, r.stderr).toBe(0);
  return r.stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as unknown);
}
const say = (what: string): string => `print(json.dumps(${what}))`;
/** The error that a statement ends with. */
const failing = (statement: string): string =>
  `try:\n    ${statement}\nexcept mayfly.MayflyError as e:\n    ${say('[type(e).__name__, e.code, e.status, e.message]')}`;

beforeAll(async () => {
  if (!python) return;
  dir = await mkdtemp(join(tmpdir(), 'mayfly-python-'));
  installed = source;
  if (works('-m', 'pip', '--version')) {
    installed = join(dir, 'site');
    const pip = ['-m', 'pip', 'install', '-q', '--no-index', '--no-build-isolation', '--target', installed, source];
    const r = spawnSync('python3', pip, { encoding: 'utf8', env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' } });
    if (r.status !== 0) throw new Error(`pip cannot install the client: ${r.stderr}`);
  } else console.error('pip is missing: the client is used from its folder');
  await mkdir(join(dir, 'lib'));
  await writeFile(join(dir, 'lib/twice.ts'), 'export const twice = (n: number): number => 2 * n;\n');
  await writeFile(
    join(dir, 'sum.ts'),
    `import { COMM_WORLD as comm, SUM, args, env, exit, files, stdin } from 'mayfly';
import { twice } from './lib/twice.ts';
const own = comm.rank === 0 ? Number(stdin.readLine() ?? '0') : comm.rank;
const total = twice(comm.allreduce(own, SUM));
console.log('rank ' + comm.rank + ': ' + total + ' ' + args.join(',') + (env.GREETING ?? ''));
if (comm.rank === 1) console.error('to standard error: é');
if (comm.rank === 0) files.write('result/total.txt', total + ' ' + files.readText('extra.txt').trim());
exit(Number(args[0]));
`,
  );
  await writeFile(join(dir, 'extra.txt'), 'from a file\n');
  await writeFile(
    join(dir, 'hello.c'),
    '#include <mpi.h>\n#include <stdio.h>\n#include "greeting.h"\nint main(int argc, char **argv) {\n  int rank;\n' +
      '  MPI_Init(&argc, &argv);\n  MPI_Comm_rank(MPI_COMM_WORLD, &rank);\n  printf(GREETING " %d\\n", rank + N);\n' +
      '  MPI_Finalize();\n  return 0;\n}\n',
  );
  await mkdir(join(dir, 'include'));
  await writeFile(join(dir, 'include/greeting.h'), '#define GREETING "hello from C"\n');
  await writeFile(join(dir, 'endless.ts'), "import { COMM_WORLD as comm } from 'mayfly';\nfor (;;) comm.barrier();\n");
  service = await startService(dir);
});
afterAll(async () => {
  if (!python) return;
  if (!ended) await service?.stop();
  await rm(dir, { recursive: true, force: true });
});

describe.skipIf(!python)('a job of the Python client', () => {
  it('has arguments, input files, standard input, variables; gives output, progress and files back', async () => {
    const [states, all, one, errors, names, text, paths, exit] = await says(
      `c = mayfly.Client()
seen = []
j = c.submit('sum.ts', 2, args=[0, 'b'], files=['extra.txt'], stdin='40\\n', env={'GREETING': '!'}, name='sums')
v = j.wait(timeout=300, progress=lambda v: seen.append(str(v).split()[2].strip(',')))
${say('seen')}
${say('j.output()')}
${say('j.output(rank=1)')}
${say("j.output(stream='stderr')")}
${say('[[f.path, f.size, f.rank] for f in j.files()]')}
${say('j.files()[0].read().decode()')}
${say("[str(p) for p in j.save_files('got')]")}
${say('[v.name, v.state, v.exit_code, v.ranks, v.ended_at > v.submitted_at, [x.id for x in c.jobs(state="done", limit=1)] == [j.id]]')}`,
    );
    expect((states as string[]).at(-1)).toBe('done');
    expect(all).toBe('rank 0: 82 0,b!\nrank 1: 82 0,b!\n');
    expect(one).toBe('rank 1: 82 0,b!\n');
    expect(errors).toBe('to standard error: é\n');
    expect(names).toEqual([['result/total.txt', 14, 0]]);
    expect(text).toBe('82 from a file');
    expect(await readFile((paths as string[])[0]!, 'utf8')).toBe('82 from a file');
    expect(exit).toEqual(['sums', 'done', 0, 2, true, true]);
  });

  it('raises JobFailed for an exit code, and what is wrong with a program with its place', async () => {
    const [failed, view, broken, place] = await says(
      `c = mayfly.Client()
j = c.submit('sum.ts', 2, args=[7], files={'extra.txt': b'x'})
${failing('j.wait()')}
${say('j.wait(check=False).exit_code')}
${failing("c.submit(mayfly.Program.typescript('const n: number = nothing;'), 1)")}
try:
    c.submit(mayfly.Program.typescript('const n: number = nothing;'), 1)
except mayfly.MayflyError as e:
    ${say('[e.diagnostics[0].file, e.diagnostics[0].line, e.diagnostics[0].column]')}`,
    );
    expect(failed).toEqual(['JobFailed', 'EXIT_CODE', null, expect.stringContaining('exit code 7')]);
    expect(view).toBe(7);
    expect(broken).toEqual(['MayflyError', 'COMPILE_FAILED', 422, expect.any(String)]);
    expect(place).toEqual(['main.ts', 1, 19]);
  });

  it('runs C that the server compiles, a module of mpicc, and a folder with a manifest', async () => {
    const built = await run(['mpicc', '-DN=10', '-Iinclude', 'hello.c', '-o', 'hello'], { cwd: dir });
    expect(built.stderr).toBe('');
    await mkdir(join(dir, 'folder'));
    await writeFile(join(dir, 'folder/mayfly.json'), '{"language": "typescript", "entry": "start.ts"}');
    await writeFile(join(dir, 'folder/start.ts'), "console.log('from a folder');\n");
    expect(
      await says(
        `c = mayfly.Client()
for program, flags in (('hello.c', ['-DN=5', '-I', 'include']), ('hello', []), ('folder', [])):
    j = c.submit(program, 2 if flags or program == 'hello' else 1, flags=flags)
    j.wait()
    ${say('j.output()')}`,
      ),
    ).toEqual(['hello from C 5\nhello from C 6\n', 'hello from C 10\nhello from C 11\n', 'from a folder\n']);
  });

  it('has several programs in one world, each with its ranks, arguments and variables, and a webhook', async () => {
    const [output, parts, hook, refused] = await says(
      `c = mayfly.Client()
who = '''#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  int rank, sum, *appnum, flag;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &appnum, &flag);
  printf(NAME " %d %d %d %s %s\\\\n", rank, sum, *appnum, argv[1], getenv("WHOSE"));
  MPI_Finalize();
  return 0;
}'''
a, b = (mayfly.Program.c(who, n + '.c', [f'-DNAME="{n}"']) for n in 'ab')
j = c.submit(a, 1, args=['x'], env={'WHOSE': 'job'}, notify='https://hooks.example/end',
             further=[mayfly.Part(b, 1, args=[5], env={'WHOSE': 'own'})])
v = j.wait()
${say('j.output()')}
${say('[v.name, v.ranks, [[p.first, p.ranks, p.entry, p.args] for p in v.parts]]')}
${say("v.raw['webhook']['host']")}
${failing('c.submit(a, 1, further=[mayfly.Part(b, 0)])')}`,
    );
    expect(output).toBe('a 0 1 0 x job\nb 1 1 1 5 own\n');
    expect(parts).toEqual([
      'a.c : b.c',
      2,
      [
        [0, 1, 'a.c', ['x']],
        [1, 1, 'b.c', ['5']],
      ],
    ]);
    expect(hook).toBe('hooks.example');
    expect(refused).toEqual(['MayflyError', 'BAD_REQUEST', 400, expect.stringContaining('further')]);
  });

  it('runs in clusters, each in its room, and counts towards the quota of its owner', async () => {
    expect(
      await says(
        `c = mayfly.Client()
j = c.submit('hello.c', 2, flags=['-DN=1', '-Iinclude'], protocol='hc3i', clusters=[[1], [0]], rooms=[None, None])
${say('[(u := c.quota()).owner, u.jobs, u.most_jobs]')}
v = j.wait()
${say('[v.protocol, *(str(r.ranks) for r in v.rooms)]')}
${say('sorted(j.output(rank=r) for r in range(2))')}
${say('[c.quota().jobs, [q.owner for q in c.quotas()]]')}
${failing("c.submit('sum.ts', 2, team=2, map_by='node', clusters=2)")}`,
      ),
    ).toEqual([
      ['owner', 1, null],
      ['hc3i', '[1]', '[0]'],
      [1, 2].map((n) => `hello from C ${n}\n`),
      [0, ['owner']],
      [
        'MayflyError',
        'BAD_REQUEST',
        400,
        expect.stringMatching(/does not accept the option "clusters": .* choose "hc3i"\.$/),
      ],
    ]);
  });

  it('is cancelled, and cancel says when it had ended before', async () => {
    expect(
      await says(
        `c = mayfly.Client()
j = c.submit('endless.ts', 2)
${failing('j.wait(timeout=0.1)')}
${say('j.cancel().state')}
${failing('j.wait()')}
e = c.submit(mayfly.Program.typescript("console.log('short');"), 1)
e.wait()
${say('[e.cancel().state, j.cancel().state]')}
j.delete()
${failing('j.view()')}`,
      ),
    ).toEqual([
      ['WaitTimeout', 'WAIT_TIMEOUT', null, expect.stringContaining('not ended after 0.1 s')],
      'cancelled',
      ['JobFailed', 'CANCELLED', null, expect.any(String)],
      ['done', 'cancelled'],
      ['MayflyError', 'NOT_FOUND', 404, expect.any(String)],
    ]);
  });

  it('gives every byte of large output and files although connections break in the middle', async () => {
    const cut = await cutting(service.url, 300_000, 3);
    try {
      const [out, file] = await says(
        `c = mayfly.Client()
p = '''import { files } from 'mayfly';
const line = 'x'.repeat(99);
for (let i = 0; i < 10000; i++) console.log(i % 10 + line);
files.write('big.txt', (line + '\\\\n').repeat(10000));'''
j = c.submit(mayfly.Program.typescript(p), 1)
j.wait()
thin = mayfly.Client(${JSON.stringify(cut.url)}).job(j.id)
${say("thin.output_bytes(rank=0) == b''.join(b'%d' % (i % 10) + b'x' * 99 + b'\\n' for i in range(10000))")}
${say("thin.save_files('cut')[0].read_bytes() == (b'x' * 99 + b'\\n') * 10000")}`,
      );
      expect([out, file, cut.left()]).toEqual([true, true, 0]);
    } finally {
      await cut.close();
    }
  });
});

describe.skipIf(!python)('an error of the Python client', () => {
  it('of a submission whose answer is lost is none: it is sent again, and is one job', async () => {
    const cut = await cutting(service.url, 0, 1);
    try {
      const [id, jobs] = await says(
        `${say(`mayfly.Client('${cut.url}').submit(mayfly.Program.typescript('1;'), 1, name='once').id`)}
${say("[j.id for j in mayfly.Client().jobs() if j.name == 'once']")}`,
      );
      expect([jobs, cut.left()]).toEqual([[id], 0]);
    } finally {
      await cut.close();
    }
  });

  it('has the code of the server, or its own for a server that is not there', async () => {
    const other = createServer((s) => s.on('data', () => s.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi')));
    await new Promise<void>((go) => other.listen(0, '127.0.0.1', go));
    const { port } = other.address() as AddressInfo;
    const errors = await says(
      `import os
${failing(`mayfly.Client(token='wrong').jobs()`)}
del os.environ['MAYFLY_TOKEN']
${failing('mayfly.Client().jobs()')}
${failing(`mayfly.Client('http://127.0.0.1:1').jobs()`)}
${failing(`mayfly.Client('http://127.0.0.1:${port}').jobs()`)}
${failing(`mayfly.Client('ftp://x').jobs()`)}
${failing(`mayfly.Client().job('../tokens')`)}
${failing(`mayfly.Client().submit('nowhere.ts', 1)`)}
del os.environ['MAYFLY_SERVER']
${failing('mayfly.Client()')}`,
    ).finally(() => other.close());
    expect(errors).toEqual([
      ['MayflyError', 'UNAUTHORIZED', 401, expect.any(String)],
      ['MayflyError', 'UNAUTHORIZED', 401, expect.stringContaining('MAYFLY_TOKEN')],
      ['Unreachable', 'UNREACHABLE', null, expect.stringContaining('http://127.0.0.1:1')],
      ['MayflyError', 'BAD_ANSWER', 200, expect.stringContaining('is it a Mayfly server?')],
      ['MayflyError', 'BAD_SETTINGS', null, expect.stringContaining('http://')],
      ['MayflyError', 'BAD_REQUEST', null, expect.stringContaining('id of a job')],
      ['MayflyError', 'BAD_PROGRAM', null, expect.stringContaining('nowhere.ts')],
      ['MayflyError', 'NO_SERVER', null, expect.stringContaining('mayfly login')],
    ]);
  });

  it('is none after mayfly login; the token of that goes to no other server', async () => {
    const home = { XDG_CONFIG_HOME: join(dir, 'home') };
    const { MAYFLY_TOKEN } = service.env;
    const login = await run(['login', service.url, '--token', MAYFLY_TOKEN], { cwd: dir, env: home });
    expect(login).toMatchObject({ code: 0, stderr: '' });
    const [nodes, other] = await says(
      `${say('[n.name for n in mayfly.Client().nodes()]')}
${failing(`mayfly.Client('${service.url.replace('127.0.0.1', 'localhost')}').nodes()`)}`,
      home,
    );
    expect(nodes).toEqual(['bench']);
    expect(other).toEqual(['MayflyError', 'UNAUTHORIZED', 401, expect.stringContaining('MAYFLY_TOKEN')]);
  });

  it('keeps a result file with the name of a link or of a path out of the folder from the disk', async () => {
    expect(
      await says(
        `import os
from mayfly.views import FileView
os.makedirs('save/dir', exist_ok=True)
os.symlink('/tmp', 'save/link')
for path in ('../x', '/x', 'link/x', 'dir', '.hidden', 'a//b', 'fine/x'):
    f = mayfly.ResultFile(None, '', FileView(path, 1, 0))
    try:
        ${say("f.place('save').name")}
    except mayfly.MayflyError as e:
        ${say('e.code')}`,
      ),
    ).toEqual(['BAD_FILE', 'BAD_FILE', 'BAD_FILE', 'BAD_FILE', 'BAD_FILE', 'BAD_FILE', 'x']);
  });

  it('is none for what /openapi.json describes: the views have its names, and need nothing that may be missing', async () => {
    const [views] = (await says(
      `import dataclasses
from mayfly import views as v
print(json.dumps({k.__name__: [[f.metadata['json'], f.default is not None] for f in dataclasses.fields(k) if 'json' in f.metadata]
    for k in (v.JobView, v.PartView, v.TaskView, v.FaultView, v.FileView, v.NodeView, v.RoomView, v.ServerInfo, v.ErrorView,
        v.QuotaView, v.ClusterRoomView, v.WavesView, v.WaveView, v.RollbackView)}))`,
    )) as [Record<string, [string, boolean][]>];
    const answer = await fetch(`${service.url}/openapi.json`);
    const { schemas } = ((await answer.json()) as { components: { schemas: Record<string, Schema> } }).components;
    const resolve = (s: Schema): Schema => (s.$ref === undefined ? s : resolve(schemas[s.$ref.split('/').at(-1)!]!));
    const job = schemas['JobView']!;
    const item = (name: string): Schema => resolve(resolve(job.properties![name]!).items!);
    const waves = resolve(job.properties!['waves']!);
    const of: Record<string, Schema> = {
      JobView: job,
      WavesView: waves,
      WaveView: resolve(resolve(waves.properties!['recent']!).items!),
      RollbackView: resolve(resolve(waves.properties!['rolledBack']!).items!),
      PartView: item('parts'),
      TaskView: item('tasks'),
      FaultView: item('faults'),
      FileView: item('outputs'),
      NodeView: schemas['NodeView']!,
      RoomView: schemas['RoomView']!,
      ClusterRoomView: item('rooms'),
      QuotaView: schemas['QuotaView']!,
      ServerInfo: schemas['InfoView']!,
      ErrorView: resolve(job.properties!['error']!),
    };
    expect(Object.keys(views).sort()).toEqual(Object.keys(of).sort());
    for (const [name, fields] of Object.entries(views))
      for (const [path, needed] of fields) {
        let at = of[name]!;
        let always = true;
        for (const step of path.split('.')) {
          always &&= at.required?.includes(step) ?? false;
          at = resolve(at.properties?.[step] ?? {});
        }
        expect(Object.keys(at).length, `${name}.${path} is described`).toBeGreaterThan(0);
        if (needed) expect(always, `${name}.${path} is always there`).toBe(true);
      }
  });
});

describe.skipIf(!python)('the server of the Python client', () => {
  const serve = (data: string, port: string, ...more: string[]): Running =>
    start(['server', '-p', port, '-d', data, '--token', 'a-token-for-tests', '--log', 'warn', ...more], {
      cwd: dir,
      input: '',
    });

  it('may be killed and started again while wait goes on', async () => {
    ended = true;
    await service.stop();
    const first = serve('restarted', '0');
    const url = await said(first, /listening on (\S+)/);
    const env = { MAYFLY_SERVER: url, MAYFLY_TOKEN: 'a-token-for-tests' };
    const p = begin(
      `j = mayfly.Client().submit(mayfly.Program.typescript("console.log('after all');"), 1)
v = j.wait(progress=lambda v: print(v.state))
print(j.output())`,
      env,
    );
    await said(p, /^(waiting)$/m);
    first.child.kill('SIGKILL');
    await first.ended;
    const second = serve('restarted', new URL(url).port);
    await said(second, /listening on (\S+)/);
    const node = start(['volunteer', url, '--slots', '1', '--allow-typescript'], { cwd: dir, input: '' });
    const r: Ended = await p.ended;
    expect([r.code, r.stderr]).toEqual([0, '']);
    expect(r.stdout).toMatch(/^waiting\n[^]*done\nafter all\n/);
    for (const running of [node, second]) {
      running.child.kill('SIGTERM');
      await running.ended;
    }
  });

  it('may be away for longer than the timeout of a wait', async () => {
    const server = serve('away', '0');
    const url = await said(server, /listening on (\S+)/);
    const p = start(
      [
        '-u',
        '-c',
        `import json, mayfly\nj = mayfly.Client().submit(mayfly.Program.typescript('1;'), 1)\nprint('submitted')\ninput()
${failing('j.wait(timeout=0.5)')}`,
      ],
      {
        cwd: dir,
        command: 'python3',
        env: { PYTHONPATH: installed, MAYFLY_SERVER: url, MAYFLY_TOKEN: 'a-token-for-tests' },
      },
    );
    await said(p, /^(submitted)$/m);
    server.child.kill('SIGKILL');
    await server.ended;
    p.child.stdin!.end('\n');
    const r = await p.ended;
    expect([r.stderr, JSON.parse(r.stdout.split('\n')[1]!)]).toEqual([
      '',
      ['WaitTimeout', 'WAIT_TIMEOUT', null, expect.stringContaining('cannot reach')],
    ]);
  });

  it('may have a certificate of its own: by fingerprint, or by file', async () => {
    const server = serve('tls', '0', '--tls-self-signed');
    const url = await said(server, /listening on (\S+)/);
    const results = await says(
      `import hashlib, ssl
pem = open('tls/tls/cert.pem').read()
digest = hashlib.sha256(ssl.PEM_cert_to_DER_cert(pem)).hexdigest().upper()
colons = ':'.join(digest[i:i + 2] for i in range(0, 64, 2))
${failing('mayfly.Client().jobs()')}
${failing(`mayfly.Client(fingerprint='0' * 64).jobs()`)}
${failing(`mayfly.Client(fingerprint='0' * 63)`)}
for more in ({'fingerprint': colons}, {'ca_file': 'tls/tls/cert.pem'}, {'insecure': True}):
    ${say('mayfly.Client(**more).jobs()')}`,
      { MAYFLY_SERVER: url, MAYFLY_TOKEN: 'a-token-for-tests' },
    );
    server.child.kill('SIGTERM');
    await server.ended;
    expect(results).toEqual([
      ['MayflyError', 'BAD_CERTIFICATE', null, expect.stringContaining('pass ca_file, or fingerprint')],
      ['MayflyError', 'BAD_CERTIFICATE', null, expect.stringContaining('SHA-256')],
      ['MayflyError', 'BAD_SETTINGS', null, expect.any(String)],
      [],
      [],
      [],
    ]);
  });
});

interface Schema {
  $ref?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
}
