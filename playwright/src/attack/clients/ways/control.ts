/** Ways of a node's control connection, and of those who guess codes and tokens. */
import { helloOf, inParallel, reportOf, sleep } from '../hostile.ts';
import { settle, takeSeat } from '../seat.ts';
import type { Way } from '../way.ts';

interface NodeRow {
  id: string;
  name: string;
  slots: number;
  state: string;
}
const ESC = '\u001b';
/** What a terminal would obey: control characters but the line's own, and marks that turn the order of writing. */
const OBEYED = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\u200e\u200f]/;

const isWelcome = (answer: unknown): boolean => typeof answer === 'object' && answer !== null && 'node' in answer;

export const control: Way[] = [
  {
    name: 'hello-again-and-again',
    tries: 'says Hello 2,000 times on one connection, each time as somebody else with 64 slots and 200 images',
    holds: 'one connection is one node',
    async run(h, { owner }) {
      const images = Array.from({ length: 200 }, (_, i) => ({
        job: 'aaaaaaaaaaaa',
        task: i,
        image: `aaaaaaaaaaaa-${i}`,
      }));
      const { socket } = await h.node({ name: 'again 0', slots: 1 });
      for (let i = 1; i <= 2000 && socket.connected; i++)
        await socket
          .timeout(5000 * h.slowness)
          .emitWithAck('hello', helloOf({ name: `again ${i}`, slots: 64, images }))
          .catch(() => undefined);
      const nodes = (await owner.json<NodeRow[]>('GET', '/api/nodes')).filter((n) => n.name.startsWith('again'));
      return nodes.length <= 1 ? [] : [`one connection has become ${nodes.length} nodes`];
    },
  },
  {
    name: 'silent-nodes',
    tries: 'takes 2,100 places of nodes with connections that offer no slots',
    holds: 'a volunteer from another network still gets in',
    async run(h) {
      await inParallel(2100, 24, () => h.bareNode({}).catch(() => undefined));
      const neighbour = await h.from('127.9.9.9').bareNode({ name: 'neighbour', slots: 1 });
      return isWelcome(await neighbour.welcome) ? [] : ['a volunteer from another network was turned away'];
    },
  },
  {
    name: 'nodes-that-come-and-go',
    tries: 'comes 1,500 times as a new node, and leaves at once',
    holds: 'what was kept of them has a limit',
    async run(h, { owner }) {
      await inParallel(1500, 16, async () => {
        const { ws, welcome } = await h.bareNode({ name: 'passing', slots: 8 });
        await welcome;
        ws.close();
      });
      await settle(h);
      const here = (await owner.json<NodeRow[]>('GET', '/api/nodes')).filter(
        (n) => n.name === 'passing' && n.state === 'here',
      );
      return here.length === 0 ? [] : [`${here.length} nodes that have left count as here`];
    },
  },
  {
    name: 'ranks-of-others',
    tries: 'says of the ranks of another job that it holds them, that they crashed, and that they were refused',
    holds: 'only the node that a rank was given to is believed',
    async run(h, { owner, honestJob }) {
      const ranks = [0, 1].flatMap((task) => [0, 1, 7].map((incarnation) => ({ job: honestJob, task, incarnation })));
      for (let i = 0; i < 5; i++) {
        const { socket } = await h.node({ slots: 2, holds: ranks, name: `claims ${i}` });
        for (const r of ranks)
          for (const [event, error] of [
            ['started', undefined],
            ['recovered', undefined],
            ['crashed', { code: 'INTERNAL', message: 'out of memory' }],
            ['refused', { code: 'LOST_LOG', message: 'the logs lost everything' }],
          ] as const)
            socket.emit('report', { ...r, event, ...(error ? { error } : {}) });
        socket.emit('heartbeat', {
          tasks: ranks.map((r) => ({ ...r, started: true, activity: { state: 'computing', arrivals: 9, sends: 9 } })),
        });
        await sleep(100);
        socket.disconnect();
      }
      const faults = (await owner.job(honestJob)).faults.length;
      return faults === 0 ? [] : [`the honest job has lost a rank ${faults} times`];
    },
  },
  {
    name: 'heartbeats-without-end',
    tries: 'sends heartbeats with 1,024 ranks each, as fast as it can, from ten connections',
    holds: 'a flood ends its own connection',
    async run(h) {
      const tasks = Array.from({ length: 1024 }, (_, task) => ({
        job: 'nosuchjob123',
        task,
        incarnation: 0,
        started: true,
        activity: { state: 'computing', call: 'MPI_Recv', arrivals: 0, sends: 0 },
        spent: [1, 2, 3, 4, 5, 6],
      }));
      const beat = `42/node,${JSON.stringify(['heartbeat', { tasks }])}`;
      await inParallel(10, 10, async () => {
        const { ws } = await h.bareNode({ slots: 1 });
        await h.pour(ws, 150, () => beat);
      });
      await settle(h);
      return [];
    },
  },
  {
    name: 'texts-for-terminals',
    tries: 'puts escape sequences and marks of direction into every text that a node or a submitter may choose',
    holds: 'no command prints one of them',
    async run(h, scene) {
      const evil = (what: string): string => `${what}${ESC}]0;owned\u0007${ESC}[2J\u202egnp.exe\u009b31m`;
      // A name with control characters may be refused; then there is nothing to print.
      const seat = await takeSeat(h, { name: evil('job') }).catch(() => takeSeat(h));
      const named = await h.node({ name: evil('node'), engine: evil('engine'), slots: 0 }).catch(() => undefined);
      const { error } = {
        error: { code: evil('CODE').slice(0, 60), message: evil('the worker died: ') },
      };
      for (const a of seat.tasks) seat.control.emit('report', reportOf(a, 'crashed', error));
      await sleep(500);
      await h.ask('POST', `/api/jobs/${seat.job}/cancel`, { token: h.tokens.submitter });
      const broken: string[] = [];
      for (const command of [
        ['jobs', 'list'],
        ['jobs', seat.job],
        ['wait', seat.job],
        ['report', seat.job],
        ['nodes'],
        ['rooms'],
        ['quota'],
      ]) {
        const found = OBEYED.exec((await scene.mayfly(...command)).replaceAll('\r\n', '\n'));
        if (found)
          broken.push(
            `mayfly ${command[0]} printed the character U+${found[0].codePointAt(0)!.toString(16).padStart(4, '0')}`,
          );
      }
      named?.socket.disconnect();
      return broken;
    },
  },
  {
    name: 'codes-of-rooms-by-the-board',
    tries: 'guesses 400 codes of rooms by the board, which needs no token',
    holds: 'it is told to wait, or waits, long before that',
    async run(h) {
      const letters = 'ABCDEFGHJKMNPQRSTUVWXYZ23456789';
      let answered = 0;
      const began = performance.now();
      await inParallel(400, 16, async () => {
        const code = Array.from({ length: 6 }, () => letters[Math.floor(Math.random() * letters.length)]).join('');
        // What has not been answered within a minute was slowed down.
        if (performance.now() - began > 60_000) return;
        const a = await Promise.race([h.ask('GET', `/api/rooms/${code}/board`), sleep(60_000)]);
        if (a && a.status !== 429) answered++;
      });
      const perMinute = (answered * 60_000) / Math.max(60_000, performance.now() - began);
      return perMinute < 200 ? [] : [`${answered} guesses were answered, as many as it made`];
    },
  },
  {
    name: 'codes-of-rooms-by-hello',
    tries: 'guesses codes of rooms by Hello, on 100 connections',
    holds: 'wrong ones are answered more and more slowly, or not at all',
    async run(h) {
      let answered = 0;
      const guess = async (i: number): Promise<void> => {
        const { welcome } = await h.bareNode({ room: `QQQQ${String(i % 10).repeat(2)}` });
        if (await welcome) answered++;
      };
      await Promise.race([inParallel(400, 100, guess), sleep(8000)]);
      const within8s = answered;
      return within8s <= 160 ? [] : [`${within8s} guesses were answered within 8 s`];
    },
  },
  {
    name: 'tokens',
    tries: 'guesses 400 tokens by REST and by the socket of the dashboard',
    holds: 'guesses have a limit, and the right token passes from the same address',
    async run(h) {
      let answered = 0;
      await inParallel(400, 16, async (i) => {
        if ((await h.ask('GET', '/api/me', { token: `guess-${i}-guess-guess` })).status === 401) answered++;
      });
      const broken = answered <= 60 ? [] : [`${answered} wrong tokens were answered as such`];
      const right = await h.ask('GET', '/api/me', { token: h.tokens.viewer });
      if (right.status !== 200) broken.push(`the right token got ${right.status}`);
      const dashboard = await h.control('/dashboard', { token: 'guess' }).catch(() => undefined);
      if (dashboard) broken.push('the dashboard let a wrong token in');
      return broken;
    },
  },
  {
    name: 'forwarded-addresses',
    tries: 'writes addresses of its own choice into X-Forwarded-For, which the proxy in front then appends to',
    holds: 'limits count the address that the proxy saw',
    server: ['--trust-proxy', '1'],
    async run(h) {
      let answered = 0;
      await inParallel(200, 8, async (i) => {
        const forwarded = `10.${i}.${i % 7}.1, 203.0.113.7`;
        const a = await h.ask('GET', '/api/me', {
          token: `guess-${i}-guess-guess`,
          headers: { 'x-forwarded-for': forwarded },
        });
        if (a.status === 401) answered++;
      });
      return answered <= 60 ? [] : [`${answered} wrong tokens from one client were answered as such`];
    },
  },
  {
    name: 'lessons-of-a-network',
    tries: 'begins lessons from forty addresses of one /64 of IPv6, until there are no more for anybody',
    holds: 'one network has a share of them, and somebody else still gets one',
    server: ['--trust-proxy', '1'],
    async run(h) {
      const lesson = (from: string): Promise<{ status: number }> =>
        h.ask('POST', '/api/lesson', { body: {}, headers: { 'x-forwarded-for': from } });
      let got = 0;
      for (let i = 1; i <= 40; i++) if ((await lesson(`2001:db8:1:1::${i.toString(16)}`)).status === 201) got++;
      const other = await lesson('198.51.100.9');
      return [
        ...(got > 5 ? [`one network got ${got} lessons at the same time`] : []),
        ...(other.status === 201 ? [] : [`somebody from another network got ${other.status}`]),
      ];
    },
  },
  {
    name: 'lesson-into-a-private-server',
    tries: 'begins a lesson at a server that has a join code, and uses the lesson’s code to get in',
    holds: 'a lesson is no way around the join code',
    server: ['--room', 'WXYZ42'],
    async run(h) {
      const a = await h.ask('POST', '/api/lesson', { body: {} });
      if (a.status !== 201) return [];
      const { code } = JSON.parse(a.text) as { code: string };
      const { welcome } = await h.bareNode({ room: code, slots: 4 });
      return isWelcome(await welcome) ? ['somebody without the join code is a node of a private server'] : [];
    },
  },
];
