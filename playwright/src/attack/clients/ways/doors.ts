/** Ways before any authentication: connections that say little, nothing, or begin what they never end. */
import type { WebSocket } from 'ws';
import { inParallel, sleep, within, type Hostile, type Line } from '../hostile.ts';
import { imagePathOf, settle, takeSeat } from '../seat.ts';
import type { Way } from '../way.ts';

const MIB = 2 ** 20;
const MEGABYTE = 'x'.repeat(MIB);

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

/** A POST whose body has a third more bytes than are sent of it, as far as the server takes them. */
async function unfinishedBody(h: Hostile, path: string, type: string, megabytes: number, headers = ''): Promise<void> {
  const line = await h.tcp(
    `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${h.port}\r\n${headers}Content-Type: ${type}\r\n` +
      `Content-Length: ${Math.floor((megabytes * 4 * MIB) / 3)}\r\n\r\n`,
  );
  const taken = (): Promise<boolean> =>
    new Promise((resolve) => {
      const full = setTimeout(() => resolve(false), 500);
      line.socket.write(MEGABYTE, 'latin1', () => (clearTimeout(full), resolve(true)));
    });
  for (let mb = 0; mb < megabytes && !line.closed; mb++) if (!(await taken())) break;
}

/** What a data socket is closed with that sends nonsense: 4400 says that it was heard. */
async function answerTo(h: Hostile): Promise<number | string> {
  const ws = await h.webSocket('/data/cm/0').catch(() => undefined);
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
      pollers.push(['/data/poll/0/', await polls(h, '/data/poll/0/', N)]);
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
    tries: 'begins 110 messages of 7.5 MB on image sockets, without a capability and with one each, and ends none',
    holds: 'a stranger’s are not read, and those of ranks are bounded together',
    async run(h) {
      const strangers = await h.unfinished(Array<string>(110).fill('/data/image'), 7.5 * 2 ** 20);
      const { tasks } = await takeSeat(h, { size: 110 });
      const open = await h.unfinished(tasks.map(imagePathOf), 7.5 * 2 ** 20);
      await settle(h);
      return [
        ...(strangers.length === 0 ? [] : [`${strangers.length} strangers have an image socket`]),
        ...(open.length > 0 && open.length < 110 ? [] : [`${open.length} of 110 ranks hold a message without an end`]),
      ];
    },
  },
  {
    name: 'data-bytes-before-attach',
    tries: 'begins 110 messages of 7.5 MB on data sockets, without a capability, and ends none',
    holds: 'strangers cannot make the server hold them',
    async run(h) {
      await h.unfinished(Array<string>(110).fill('/data/cm/0'), 7.5 * 2 ** 20);
      await settle(h);
      return [];
    },
  },
  {
    name: 'control-bytes-before-hello',
    tries: 'begins 220 messages of 3.75 MB on control sockets, without a namespace and without Hello, and ends none',
    holds: 'strangers cannot make the server hold them',
    async run(h) {
      const paths = Array<string>(220).fill('/socket.io/?EIO=4&transport=websocket');
      await h.unfinished(paths, 3.75 * 2 ** 20);
      await h.unfinished(paths, 3.75 * 2 ** 20, '40/node,');
      await settle(h);
      return [];
    },
  },
  {
    name: 'polling-bodies-without-end',
    tries: 'begins 60 bodies of long polling of 12 MB each, 200 of 3 MB where it has said a word, and ends none',
    holds: 'strangers cannot make the server hold them',
    async run(h) {
      for (const [path, count, megabytes, first] of [
        ['/data/poll/0/', 60, 12, undefined],
        ['/socket.io/', 200, 3, '40/node,'],
      ] as const) {
        const sids = await polls(h, path, count);
        await inParallel(count, 8, async (i) => {
          const address = `${path}?EIO=4&transport=polling&sid=${sids[i]}`;
          if (first !== undefined) await h.ask('POST', address, { body: first });
          await unfinishedBody(h, address, 'text/plain', megabytes);
        });
      }
      await settle(h);
      return [];
    },
  },
  {
    name: 'submissions-without-end',
    tries: 'begins 24 submissions of 60 MB with a submitter’s token, all at the same time, and ends none',
    holds: 'bodies that have not ended are bounded together',
    async run(h) {
      const token = `Authorization: Bearer ${h.tokens.submitter}\r\n`;
      await inParallel(24, 24, () => unfinishedBody(h, '/api/jobs', 'application/json', 45, token));
      await settle(h);
      return [];
    },
  },
  {
    name: 'bodies-without-a-token',
    tries: 'sends 24 submissions of 60 MB without a token, all at the same time, and ends none',
    holds: 'a body is read only once the token is known',
    async run(h) {
      await inParallel(24, 24, () => unfinishedBody(h, '/api/jobs', 'application/json', 45));
      await settle(h);
      return [];
    },
  },
  {
    name: 'attachments-without-end',
    tries: 'announces packets of socket.io with attachments, sends nearly all of them, and never the last',
    holds: 'what waits for an attachment has a limit',
    async run(h) {
      const page = Buffer.alloc(3.9 * MIB);
      const parity = '["parity",{"_placeholder":true,"num":0}';
      const long = `${parity},"${'x'.repeat(page.length)}"]`;
      for (const [count, packet, attachments] of [
        [12, `455000-/node,${parity}]`, 16],
        [40, `4510-/node,${parity}]`, 9],
        [220, `451-/node,${long}`, 0],
      ] as const)
        await inParallel(count, 12, async () => {
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
          ws.send(packet);
          await h.pour(ws, attachments, () => page);
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
    name: 'idle-data-links-for-all',
    tries: 'takes every data link that the server has for everybody, and says nothing on any',
    holds: 'somebody from another network still gets one',
    async run(h) {
      let refused = 0;
      await inParallel(8200, 48, async () => {
        if (refused > 20) return;
        const ws = await h.webSocket('/data/cm/0').catch(() => undefined);
        if (!ws || ws.readyState !== ws.OPEN) refused++;
        else ws.once('close', () => refused++);
      });
      const code = await answerTo(h.from('127.9.9.9'));
      return code === 4400 ? [] : [`a connection from another network got ${code}, and not a word on its message`];
    },
  },
];
