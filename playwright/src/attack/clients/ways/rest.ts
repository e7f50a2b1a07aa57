/** Ways of REST and of the dashboard’s socket: with no token, with a viewer’s, with a submitter’s. */
import { networkInterfaces } from 'node:os';
import { gzipSync } from 'node:zlib';
import type { JobView } from '@mayfly/wire';
import { inParallel, sleep, within } from '../hostile.ts';
import { imagePathOf, settle, takeSeat } from '../seat.ts';
import { OVER } from '../scene.ts';
import type { Way } from '../way.ts';

const MIB = 2 ** 20;

export const rest: Way[] = [
  {
    name: 'typed-input',
    tries: 'types 80 MB of standard input into a job of its own, and has the job run again three times',
    holds: 'typed input counts for the limit of a job’s input (48 MiB), and `again` does not read it at once',
    async run(h) {
      const seat = await takeSeat(h);
      const token = h.tokens.submitter;
      const megabyte = Buffer.alloc(MIB, 'line\n');
      let taken = 0;
      for (let i = 0; i < 80; i++) {
        const a = await h.ask('POST', `/api/jobs/${seat.job}/stdin`, { token, body: megabyte });
        if (a.status >= 300) break;
        taken++;
      }
      const broken = taken <= 48 ? [] : [`${taken} MiB of typed input were taken; 48 are allowed`];
      await h.ask('POST', `/api/jobs/${seat.job}/cancel`, { token });
      await within(15_000 * h.slowness, async () =>
        OVER.includes((await h.json<JobView>('GET', `/api/jobs/${seat.job}`, token)).state),
      );
      const again = await Promise.all(
        [1, 2, 3].map(() => h.ask('POST', `/api/jobs/${seat.job}/again`, { token, body: { room: h.room } })),
      );
      for (const a of again)
        if (a.status >= 500 && a.status !== 507)
          broken.push(`again was answered with ${a.status} ${a.text.slice(0, 80)}`);
        else if (a.status === 201)
          await h.ask('POST', `/api/jobs/${(JSON.parse(a.text) as { id: string }).id}/cancel`, { token });
      return broken;
    },
  },
  {
    name: 'archive-tickets',
    tries: 'asks with a viewer’s token for 1,200 tickets of downloads',
    holds: 'the ticket of somebody else still works',
    async run(h, { owner, server }) {
      const [job] = await owner.json<{ id: string }[]>('GET', '/api/jobs');
      const { url } = await owner.json<{ url: string }>('POST', `/api/jobs/${job!.id}/archive`);
      await inParallel(1200, 16, () => h.ask('POST', `/api/jobs/${job!.id}/archive`, { token: h.tokens.viewer }));
      const { status } = await fetch(server.url + url);
      return status === 200 ? [] : [`the owner’s download was answered with ${status}`];
    },
  },
  {
    name: 'webhook-to-its-own-machine',
    tries: 'names addresses of the server’s own machine as webhooks, in every spelling',
    holds: 'no such address is called',
    async run(h, { owner }) {
      const own = Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map((i) => i.address.split('%')[0]!));
      const spelled = [
        '127.1',
        '2130706433',
        '0x7f000001',
        '0177.0.0.1',
        'localhost',
        'localhost.',
        '0.0.0.0',
        '[::ffff:127.0.0.1]',
        '[::]',
        '[::ffff:7f00:1]',
        '127.0.0.1.nip.io',
        ...own.map((a) => (a.includes(':') ? `[${a}]` : a)),
      ];
      const jobs: { id: string; host: string }[] = [];
      for (const host of spelled) {
        const a = await h.ask('POST', '/api/jobs', {
          token: h.tokens.submitter,
          body: {
            name: 'webhook',
            room: h.room,
            size: 1,
            program: { language: 'typescript', entry: 'main.ts', sources: { 'main.ts': 'export {};\n' } },
            notify: `http://${host}:${h.port}/`,
          },
        });
        if (a.status !== 201) continue;
        const { id } = JSON.parse(a.text) as { id: string };
        jobs.push({ id, host });
        await h.ask('POST', `/api/jobs/${id}/cancel`, { token: h.tokens.submitter });
      }
      const broken: string[] = [];
      for (const { id, host } of jobs) {
        type Hook = { state: string; tries: number; error?: string } | undefined;
        const hook = async (): Promise<Hook> =>
          (await owner.json<{ webhook?: Hook }>('GET', `/api/jobs/${id}`)).webhook;
        await within(20_000 * h.slowness, async () => ((await hook())?.tries ?? 0) > 0);
        const became = await hook();
        // What was called answers, or refuses the connection; what was not says why.
        if (became?.state === 'delivered' || /answered|HTTP|status|ECONN|hang up|reset/i.test(became?.error ?? ''))
          broken.push(`${host} was called: ${became?.error ?? 'delivered'}`);
      }
      return broken;
    },
  },
  {
    name: 'brackets',
    tries: 'sends JSON that is nothing but brackets, in requests and on sockets',
    holds: 'it is refused before it is parsed',
    async run(h) {
      const deep = '['.repeat(3_000_000);
      const broken: string[] = [];
      await inParallel(8, 4, async () => {
        const a = await h.ask('POST', '/api/jobs', { token: h.tokens.submitter, body: deep });
        if (a.status !== 413 && a.status !== 400) broken.push(`a body of brackets got ${a.status}`);
      });
      for (const [path, text] of [
        ['/socket.io/?EIO=4&transport=websocket', `42/node,["hello",${deep.slice(0, 2_000_000)}`],
        [imagePathOf((await takeSeat(h)).tasks[0]!), deep],
      ] as const) {
        const ws = await h.webSocket(path);
        if (path.startsWith('/socket')) ws.on('message', (d: Buffer) => d[0] === 48 && ws.send('40/node,'));
        await sleep(200);
        ws.send(text);
        if (!(await within(10_000 * h.slowness, () => ws.readyState !== ws.OPEN))) broken.push(`${path} stays open`);
      }
      return broken;
    },
  },
  {
    name: 'packed-bodies',
    tries: 'sends packed bodies that are 1 GB unpacked',
    holds: 'nothing is unpacked',
    async run(h) {
      const bomb = gzipSync(Buffer.alloc(256 << 20, '['), { level: 9 });
      const broken: string[] = [];
      for (const encoding of ['gzip', 'deflate', 'br', 'gzip, gzip']) {
        const a = await h.ask('POST', '/api/jobs', {
          token: h.tokens.submitter,
          body: bomb,
          headers: { 'content-encoding': encoding, 'content-type': 'application/json' },
        });
        if (a.status < 400) broken.push(`a body in ${encoding} got ${a.status}`);
      }
      return broken;
    },
  },
  {
    name: 'programs-that-compile-for-ever',
    tries: 'submits 12 scripts at the same time whose types never come to an end',
    holds: 'each ends at its limit, and another owner’s program is compiled meanwhile',
    async run(h, { owner }) {
      const bits = '${B}'.repeat(12);
      const types = Array.from(
        { length: 2000 },
        (_, i) => `export type U${i} = { [K in \`${bits}\`]: [K, ${i}] }; export const v${i}: U${i}['0'] = 0 as never;`,
      );
      const leave = Array.from({ length: 12 }, () =>
        h
          .ask('POST', '/api/jobs', {
            token: h.tokens.submitter,
            body: {
              size: 1,
              room: h.room,
              program: {
                language: 'typescript',
                entry: 'main.ts',
                sources: { 'main.ts': `type B = '0' | '1';\n${types.join('\n')}` },
              },
            },
          })
          .catch(() => undefined),
      );
      await sleep(500);
      const began = performance.now();
      const { id } = await owner.json<{ id: string }>('POST', '/api/jobs', {
        name: 'of another owner',
        size: 1,
        room: h.room,
        program: {
          language: 'typescript',
          entry: 'main.ts',
          sources: { 'main.ts': `console.log(${Math.random()});\n` },
        },
      });
      const ms = performance.now() - began;
      await owner.request('POST', `/api/jobs/${id}/cancel`);
      h.leave();
      await Promise.all(leave);
      return ms <= 20_000 * h.slowness ? [] : [`another owner waited ${Math.round(ms)} ms for a program of one line`];
    },
  },
  {
    name: 'dashboards-that-read-nothing',
    tries: 'opens 40 dashboards with a viewer’s token, asks each 400 times for everything, and reads nothing',
    holds: 'what waits for one client has a limit',
    async run(h) {
      await inParallel(40, 10, async () => {
        const ws = await h.packets();
        const welcome = new Promise<void>((resolve) => {
          ws.on('message', (d: Buffer) => {
            const text = d.toString();
            if (text.startsWith('0')) ws.send(`40/dashboard,${JSON.stringify({ token: h.tokens.viewer })}`);
            else if (text.startsWith('40/dashboard')) resolve();
          });
          ws.once('close', () => resolve());
        });
        await welcome;
        ws.pause();
        for (let i = 0; i < 400 && ws.readyState === ws.OPEN; i++) ws.send(`42/dashboard,${i}["watch",{}]`);
      });
      await settle(h, 3000);
      return [];
    },
  },
  {
    name: 'requests-without-end',
    tries: 'asks 6,000 times for everything that costs a server something, with a viewer’s token',
    holds: 'one client’s requests have a limit',
    async run(h, { owner }) {
      const [job] = await owner.json<{ id: string }[]>('GET', '/api/jobs');
      const paths = [
        '/api/jobs',
        `/api/jobs/${job!.id}`,
        `/api/jobs/${job!.id}/timeline?columns=1024`,
        `/api/jobs/${job!.id}/matrix`,
        '/api/server',
        '/api/nodes/timeline',
        '/openapi.json',
        '/metrics',
      ];
      let refused = 0;
      await inParallel(6000, 32, async (i) => {
        if (refused > 100) return;
        if ((await h.ask('GET', paths[i % paths.length]!, { token: h.tokens.viewer })).status === 429) refused++;
      });
      return refused > 0 ? [] : ['6,000 requests within a moment were all answered'];
    },
  },
  {
    name: 'roles',
    tries: 'uses a viewer’s and a submitter’s token for what only an owner may do',
    holds: 'each is refused',
    async run(h, { honestJob }) {
      const broken: string[] = [];
      for (const [role, token] of Object.entries(h.tokens))
        for (const [method, path, body] of [
          ['POST', '/api/tokens', { name: 'more', role: 'owner' }],
          ['GET', '/api/tokens', undefined],
          ['POST', '/api/rooms', { name: 'mine' }],
          ['PUT', '/api/quotas/mallory-submitter', { jobs: 1_000_000 }],
          ['POST', '/api/backup', {}],
          ['POST', `/api/jobs/${honestJob}/cancel`, undefined],
          ['POST', `/api/jobs/${honestJob}/pause`, {}],
          ['POST', `/api/jobs/${honestJob}/tasks/0/kill`, {}],
          ['DELETE', `/api/jobs/${honestJob}`, undefined],
        ] as const) {
          const { status } = await h.ask(method, path, { token, body });
          if (status !== 403) broken.push(`${method} ${path} with a ${role}’s token got ${status}`);
        }
      return broken;
    },
  },
];
