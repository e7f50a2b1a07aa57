/** Ways before any authentication: connections that say little, nothing, or begin what they never end. */
import type { WebSocket } from 'ws';
import { inParallel, sleep, within, type Hostile, type Line } from '../hostile.ts';
import { settle } from '../seat.ts';
import type { Way } from '../way.ts';

const upgrade = (path: string, protocol = 'websocket'): string =>
  `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\n` +
  'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';

const stillOpen = (lines: readonly Line[]): number => lines.filter((l) => !l.closed).length;

/** Polling connections of engine.io, opened and no more. */
async function polls(h: Hostile, path: string, count: number): Promise<string[]> {
  const sids: string[] = [];
  await inParallel(count, 16, async () => {
    const { text } = await h.ask('GET', `${path}?EIO=4&transport=polling`);
    sids.push((JSON.parse(text.slice(1)) as { sid: string }).sid);
  });
  return sids;
}

/** What an image socket is closed with that sends nonsense: 4400 says that it was heard. */
async function answerTo(h: Hostile): Promise<number | string> {
  const ws = await h.webSocket('/data/image').catch(() => undefined);
  if (!ws) return 'no connection';
  const code = new Promise<number>((resolve) => ws.once('close', resolve));
  ws.send('{}');
  return Promise.race([code, sleep(20_000 * h.slowness).then(() => 'no answer')]);
}

/** How many of these sessions the server still knows. */
async function known(h: Hostile, path: string, sids: readonly string[]): Promise<number> {
  let there = 0;
  await inParallel(sids.length, 16, async (i) => {
    // A message that is no message: a session that is there is ended by it, or answers; one that is gone is 400.
    const a = await h.ask('POST', `${path}?EIO=4&transport=polling&sid=${sids[i]}`, { body: '3' });
    if (a.status === 200) there++;
  });
  return there;
}

export const doors: Way[] = [
  {
    name: 'upgrade-nowhere',
    tries: 'asks 300 times for an upgrade to an address that begins like that of socket.io, and leaves',
    holds: 'each is answered or closed while the client waits',
    async run(h) {
      const lines: Line[] = [];
      await inParallel(300, 32, async (i) => void lines.push(await h.tcp(upgrade(`/socket.io${'x.-_~'[i % 5]}`))));
      await within(5000 * h.slowness, () => stillOpen(lines) === 0);
      const open = stillOpen(lines);
      return open === 0 ? [] : [`${open} of 300 upgrades were neither answered nor closed`];
    },
  },
  {
    name: 'upgrade-elsewhere',
    tries: 'asks for upgrades to every other address, and to other protocols',
    holds: 'each is answered or closed',
    async run(h) {
      const paths = [
        '/',
        '/api/info',
        '/data',
        '/data/cm/',
        '/data/cm/99999',
        '/data/cm/0/',
        '/data/poll/99/',
        '/data/poll/',
        '/data/image/x',
        '//socket.io/',
        '/%73ocket.io/',
        '/socket.io/../data/cm/0',
        '*',
      ];
      const asked = [
        ...paths.map((path) => [path, 'websocket'] as const),
        ['/socket.io/', 'h2c'] as const,
        ['/data/cm/0', 'h2c'] as const,
        ['/api/info', 'TLS/1.0'] as const,
      ];
      const lines = await Promise.all(
        asked.map(async ([path, to]) => ({ path, line: await h.tcp(upgrade(path, to)) })),
      );
      const unanswered = (): string[] =>
        lines.filter(({ line }) => !line.closed && line.heard === '').map(({ path }) => path);
      await within(5000 * h.slowness, () => unanswered().length === 0);
      return unanswered().map((path) => `an upgrade to ${path} was neither answered nor closed`);
    },
  },
  {
    name: 'silence-everywhere',
    tries: 'opens connections of every kind, says nothing more on any of them, and stays',
    holds: 'the server ends every one of them that has not presented itself, within two minutes',
    async run(h) {
      const N = 12;
      const lines = { tcp: [] as Line[], 'half a request': [] as Line[] };
      const sockets: Record<string, WebSocket[]> = {
        'socket.io without a namespace': [],
        '/node without Hello': [],
        '/data/cm/0 without ATTACH': [],
        '/data/image without an offer': [],
      };
      const pollers: [string, string[]][] = [];
      for (let i = 0; i < N; i++) {
        lines.tcp.push(await h.tcp(''));
        lines['half a request'].push(await h.tcp('GET /api/info HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Half: '));
        // Pings are answered by no one here: `ws` answers those of WebSockets, as an idle browser does.
        for (const [what, path] of [
          ['socket.io without a namespace', undefined],
          ['/node without Hello', undefined],
          ['/data/cm/0 without ATTACH', '/data/cm/0'],
          ['/data/image without an offer', '/data/image'],
        ] as const) {
          const ws = path === undefined ? await h.packets() : await h.webSocket(path);
          sockets[what]!.push(ws);
          if (path === undefined)
            ws.on('message', (d: Buffer) => {
              if (d.toString() === '2') ws.send('3');
              else if (d.toString().startsWith('0') && what === '/node without Hello') ws.send('40/node,');
            });
        }
      }
      for (const path of ['/data/poll/0/', '/data/poll/image/']) pollers.push([path, await polls(h, path, N)]);
      const left = (): string[] =>
        [
          ...Object.entries(lines).map(([what, all]) => [what, stillOpen(all)] as const),
          ...Object.entries(sockets).map(
            ([what, all]) => [what, all.filter((ws) => ws.readyState === ws.OPEN).length] as const,
          ),
        ].flatMap(([what, n]) => (n === 0 ? [] : [`${n} of ${N} connections are still open: ${what}`]));
      await within(120_000 + 10_000 * h.slowness, () => left().length === 0);
      const broken = left();
      for (const [path, sids] of pollers) {
        const n = await known(h, path, sids);
        if (n > 0) broken.push(`${n} of ${N} sessions of long polling are still known: ${path}`);
      }
      return broken;
    },
  },
  {
    name: 'image-bytes-before-offer',
    tries: 'begins 110 messages of 7.5 MB on image sockets, without a capability, and ends none',
    holds: 'strangers cannot make the server hold them',
    async run(h) {
      const open = await h.unfinished('/data/image', 110, 7.5 * 2 ** 20);
      await settle(h);
      return open.length < 110 ? [] : ['all 110 connections hold a message without an end'];
    },
  },
  {
    name: 'data-bytes-before-attach',
    tries: 'begins 110 messages of 7.5 MB on data sockets, without a capability, and ends none',
    holds: 'strangers cannot make the server hold them',
    async run(h) {
      await h.unfinished('/data/cm/0', 110, 7.5 * 2 ** 20);
      await settle(h);
      return [];
    },
  },
  {
    name: 'control-bytes-before-hello',
    tries: 'begins 220 messages of 3.75 MB on control sockets, without a namespace, and ends none',
    holds: 'strangers cannot make the server hold them',
    async run(h) {
      await h.unfinished('/socket.io/?EIO=4&transport=websocket', 220, 3.75 * 2 ** 20);
      await settle(h);
      return [];
    },
  },
  {
    name: 'polling-bodies-without-end',
    tries: 'begins 60 bodies of long polling of 12 MB each, and ends none',
    holds: 'strangers cannot make the server hold them',
    async run(h) {
      const path = '/data/poll/image/';
      const sids = await polls(h, path, 60);
      const megabyte = 'x'.repeat(2 ** 20);
      await inParallel(sids.length, 8, async (i) => {
        const line = await h.tcp(
          `POST ${path}?EIO=4&transport=polling&sid=${sids[i]} HTTP/1.1\r\nHost: 127.0.0.1:${h.port}\r\n` +
            'Content-Type: text/plain\r\nContent-Length: 16000000\r\n\r\n',
        );
        for (let mb = 0; mb < 12 && !line.closed; mb++)
          await new Promise<void>((next) => line.socket.write(megabyte, 'latin1', () => next()));
      });
      await settle(h);
      return [];
    },
  },
  {
    name: 'bodies-without-a-token',
    tries: 'sends 24 submissions of 60 MB without a token, all at the same time, and ends none',
    holds: 'a body is read only once the token is known',
    async run(h) {
      const megabyte = 'x'.repeat(2 ** 20);
      await inParallel(24, 24, async () => {
        const line = await h.tcp(
          `POST /api/jobs HTTP/1.1\r\nHost: 127.0.0.1:${h.port}\r\nContent-Type: application/json\r\n` +
            'Content-Length: 62914560\r\n\r\n',
        );
        // As far as the server takes it.
        const taken = (): Promise<boolean> =>
          new Promise((resolve) => {
            const full = setTimeout(() => resolve(false), 500);
            line.socket.write(megabyte, 'latin1', () => (clearTimeout(full), resolve(true)));
          });
        for (let mb = 0; mb < 50 && !line.closed; mb++) if (!(await taken())) break;
      });
      await settle(h);
      return [];
    },
  },
  {
    name: 'attachments-without-end',
    tries: 'announces packets of socket.io with thousands of attachments, and sends them one by one',
    holds: 'the parts of one packet have a limit in all',
    async run(h) {
      const page = Buffer.alloc(2 ** 20);
      await inParallel(12, 12, async () => {
        const ws = await h.packets();
        const welcome = new Promise<void>((resolve) => {
          ws.on('message', (d: Buffer) => {
            if (d.toString() === '2') ws.send('3');
            else if (d.toString().startsWith('0')) ws.send('40/node,');
            else resolve();
          });
          ws.once('close', () => resolve());
        });
        await welcome;
        if (ws.readyState !== ws.OPEN) return;
        // 4: a message; 5: an event with attachments; their number; the namespace.
        ws.send('455000-/node,["parity",{"_placeholder":true,"num":0}]');
        await h.pour(ws, 64, () => page);
      });
      await settle(h);
      return [];
    },
  },
  {
    name: 'smuggled-requests',
    tries: 'sends requests with two lengths, chunks that lie, bare line feeds and a second request inside of a body',
    holds: 'each connection gets one answer that is an error, and no second one',
    async run(h) {
      const head = `POST /api/lesson HTTP/1.1\r\nHost: 127.0.0.1:${h.port}\r\n`;
      const inner = `GET /api/info HTTP/1.1\r\nHost: 127.0.0.1:${h.port}\r\n\r\n`;
      const all = [
        `${head}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${inner}`,
        `${head}Content-Length: 5\r\nContent-Length: 60\r\n\r\nabcde${inner}`,
        `${head}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${inner}`,
        `${head}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${inner}`,
        `${head}Content-Length: +5\r\n\r\nabcde${inner}`,
        `${head}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n${inner}`,
        `${head}Transfer-Encoding: chunked\r\n\r\n5;\n\nabcde\r\n0\r\n\r\n${inner}`,
      ];
      const broken: string[] = [];
      for (const [i, text] of all.entries()) {
        const line = await h.tcp(text);
        await within(5000 * h.slowness, () => line.closed);
        const answers = line.heard.match(/HTTP\/1\.1 \d+/g) ?? [];
        if (answers.length !== 1 || !/ 4\d\d$/.test(answers[0]!))
          broken.push(`request ${i} was answered with ${answers.join(', ') || 'nothing'}`);
      }
      return broken;
    },
  },
  {
    name: 'other-names-and-pages',
    tries: 'comes under a name that is not the server’s, and as a page of another site, with a valid token',
    holds: 'nothing is changed and no socket is opened',
    async run(h) {
      const broken: string[] = [];
      const token = h.tokens.submitter;
      for (const [what, headers] of [
        ['another Host', { host: 'evil.example' }],
        ['another Origin', { origin: 'https://evil.example' }],
        ['no origin at all (a sandboxed page)', { origin: 'null' }],
        ['a fetch from another site', { 'sec-fetch-site': 'cross-site' }],
      ] as const) {
        const a = await h.ask('POST', '/api/jobs', { token, headers, body: {} });
        if (a.status !== 403 && a.status !== 421) broken.push(`${what}: a submission got ${a.status}`);
        const s = await h.ask('GET', '/socket.io/?EIO=4&transport=polling', { headers });
        if (s.status === 200) broken.push(`${what}: socket.io let it in`);
      }
      return broken;
    },
  },
  {
    name: 'paths-out-of-the-folder',
    tries: 'asks for files of the server’s disk by paths that climb out of what it serves',
    holds: 'no answer has a file of the disk',
    async run(h) {
      const broken: string[] = [];
      const up = ['../', '..%2f', '%2e%2e/', '..%5c', '....//', '..;/'];
      for (const base of ['/', '/frame/', '/api/examples/heat/files/', '/assets/'])
        for (const step of up)
          for (const file of ['etc/passwd', 'package.json']) {
            const line = await h.tcp(
              `GET ${base}${step.repeat(8)}${file} HTTP/1.1\r\nHost: 127.0.0.1:${h.port}\r\n` +
                `Authorization: Bearer ${h.tokens.viewer}\r\nConnection: close\r\n\r\n`,
            );
            await within(5000 * h.slowness, () => line.closed);
            if (/root:x:|"workspaces"|"mayfly-workspace"/.test(line.heard))
              broken.push(`${base}${step}…${file} was served`);
          }
      return broken;
    },
  },
  {
    name: 'idle-image-links-for-all',
    tries: 'takes every image link that the server has for everybody, and says nothing on any',
    holds: 'somebody from another network still gets one',
    async run(h) {
      let refused = 0;
      await inParallel(8200, 48, async () => {
        if (refused > 20) return;
        const ws = await h.webSocket('/data/image').catch(() => undefined);
        if (!ws || ws.readyState !== ws.OPEN) refused++;
        else ws.once('close', () => refused++);
      });
      const code = await answerTo(h.from('127.9.9.9'));
      return code === 4400 ? [] : [`a connection from another network got ${code}, and not a word on its message`];
    },
  },
];
