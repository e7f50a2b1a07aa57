/** Ways of a rank on the data plane: who has begun a lesson, or is a volunteer, has the capability of one. */
import {
  FileOp,
  Flag,
  Kind,
  WORLD,
  WorldMode,
  encodeDeterminants,
  encodeFileRequest,
  taskId,
  type Segments,
} from '@mayfly/wire';
import { inParallel, quiet, reportOf, sleep, within, type Hostile } from '../hostile.ts';
import { DataSocket, settle, takeSeat, type Seat } from '../seat.ts';
import type { Way } from '../way.ts';

const CREATE_RDWR = 10;
const MIB = 2 ** 20;
const text = new TextEncoder();

/** Everything that is pushed may come. */
const credit = (link: DataSocket): Uint8Array => link.frame(Kind.CREDIT, { size: 0xffff_ffff });

/** Reads one file of 60 kB again and again, by segments that lie on top of each other. */
async function readAtStride0(h: Hostile, from: 'job' | 'lesson'): Promise<string[]> {
  const seat = await takeSeat(h, { from }).catch(() => undefined);
  // No seat, no way.
  if (!seat) return [];
  const link = await DataSocket.attached(h, seat.tasks[0]!);
  const request = (op: FileOp, r: Parameters<typeof encodeFileRequest>[1], bytes?: Uint8Array): void => {
    const { body, data } = encodeFileRequest(op, { ...r, bytes: bytes?.length ?? 0 });
    if (bytes) data.set(bytes);
    link.ws.send(link.world(WorldMode.REQUEST, body));
  };
  const length = 60_000;
  link.ws.send(credit(link));
  request(FileOp.OPEN, { name: 'f', value: CREATE_RDWR });
  request(FileOp.WRITE, { session: 1, segments: [0, length, 1, 0] as Segments }, new Uint8Array(length));
  request(FileOp.READ, { session: 1, segments: [0, length, 4300, 0] as Segments });
  await quiet(20_000 * h.slowness, () => link.bytes);
  const read = link.bytes;
  return read <= 64 * MIB
    ? []
    : [`128 bytes made the server send ${Math.round(read / MIB)} MB, which count for no limit`];
}

/** One message to the world that says it has a gigabyte, of which nearly all comes and the end never does. */
async function unfinishedToWorld(h: Hostile, seat: Seat, bytes: number): Promise<string[]> {
  const chunk = new Uint8Array(64 * 1024);
  await inParallel(Math.min(2, seat.tasks.length), 2, async (i) => {
    const link = await DataSocket.attached(h, seat.tasks[i]!);
    await h.pour(link.ws, bytes / chunk.length / Math.min(2, seat.tasks.length), (n) =>
      link.data(WORLD, 1, chunk, {
        mode: WorldMode.STDOUT,
        flags: 0,
        offset: n * chunk.length,
        size: 2 ** 30 - 8,
      }),
    );
  });
  await settle(h);
  return [];
}

export const data: Way[] = [
  {
    name: 'read-at-stride-0',
    tries: 'opens a file of 60 kB and reads it 4,300 times in one request, by a stride of 0',
    holds: 'an answer has a limit, and counts for the job',
    run: (h) => readAtStride0(h, 'job'),
  },
  {
    name: 'lesson-read-at-stride-0',
    tries: 'does the same from a lesson, which needs no token',
    holds: 'a lesson has small limits in every dimension',
    run: (h) => readAtStride0(h, 'lesson'),
  },
  {
    name: 'lesson-unfinished-output',
    tries: 'sends 450 MB of standard output of one message without its end, from a lesson',
    holds: 'parts of a message count for the limit of output (64 KiB)',
    async run(h) {
      const seat = await takeSeat(h, { from: 'lesson' }).catch(() => undefined);
      return seat ? unfinishedToWorld(h, seat, 450 * MIB) : [];
    },
  },
  {
    name: 'unfinished-output',
    tries: 'sends 450 MB of one message without its end, as a rank of a job with an output limit of 64 KiB',
    holds: 'parts of a message count for the limit of output',
    run: async (h) => unfinishedToWorld(h, await takeSeat(h, { options: { outputLimitBytes: 65_536 } }), 450 * MIB),
  },
  {
    name: 'empty-files',
    tries: 'creates 40,000 result files of 0 bytes',
    holds: 'files have a limit, a view of the job stays small, and /api/info is answered every 2 s meanwhile',
    async run(h, { owner, watcher }) {
      const seat = await takeSeat(h);
      const link = await DataSocket.attached(h, seat.tasks[0]!);
      const none = new Uint8Array(0);
      await h.pour(link.ws, 40_000, (i) => link.file(`a-file-with-a-name-that-is-somewhat-long-${i}`, none));
      await settle(h, 3000);
      const view = await (await owner.request('GET', `/api/jobs/${seat.job}`)).text();
      const broken = view.length <= 2 * MIB ? [] : [`the view of the job has ${(view.length / MIB).toFixed(1)} MB`];
      const { gapMs, slowness } = await watcher.look();
      if (gapMs > 2000 * Math.max(h.slowness, slowness))
        broken.push(`empty files kept an answer of /api/info for ${Math.round(gapMs)} ms`);
      return broken;
    },
  },
  {
    name: 'false-position',
    tries: 'states in one frame that it has consumed a million messages that nobody sent, and reports a crash',
    holds: 'its incarnation is ended as a liar; the job does not end as if the disk had lost its log',
    async run(h, { owner }) {
      const seat = await takeSeat(h);
      const [a] = seat.tasks;
      const link = await DataSocket.attached(h, a!);
      link.ws.send(
        link.frame(
          Kind.DATA,
          { flags: Flag.LAST, dst: WORLD, channel: 1, mode: WorldMode.STDOUT, size: 3 },
          text.encode('hi\n'),
          encodeDeterminants({ first: 0, consumed: 1_000_000, openPolls: 0, entries: [] }),
        ),
      );
      await sleep(500);
      seat.control.emit('report', reportOf(a!, 'crashed', { code: 'INTERNAL', message: 'out of memory' }));
      // Its next incarnation attaches: only then is the log judged.
      const next = await within(5000 * h.slowness, () => seat.tasks[0]!.incarnation > a!.incarnation);
      if (next) await DataSocket.attached(h, seat.tasks[0]!).catch(() => undefined);
      await settle(h);
      const { error } = await owner.job(seat.job);
      return error?.code === 'LOST_LOG' ? [`the job ended as LOST_LOG: ${error.message}`] : [];
    },
  },
  {
    name: 'foreign-capabilities',
    tries: 'attaches and asks for programs, files and images with capabilities that are forged, of another job or old',
    holds: 'a capability opens one incarnation of one task',
    async run(h, { honestJob: others }) {
      const seat = await takeSeat(h);
      const [a] = seat.tasks;
      const cap = a!.capability;
      const forged = [
        cap.replace(seat.job, others),
        cap.slice(0, -1) + (cap.endsWith('0') ? '1' : '0'),
        cap.replace(/\.(\d+)\.(\d+)\./, '.$1.9.'),
        `${others}.0.0.${'0'.repeat(64)}`,
        '',
      ].filter((c) => c !== cap);
      const broken: string[] = [];
      for (const capability of forged) {
        const link = await DataSocket.open(h, a!, { capability });
        if (!(await link.ended(15_000 * h.slowness)) || link.kinds.has(Kind.ATTACHED))
          broken.push('a forged capability was let in to a Channel Memory');
        for (const path of [`program/${others}`, `picture/${others}`, `program/${seat.job}`]) {
          const { status } = await h.ask('GET', `/data/${path}?cap=${encodeURIComponent(capability)}`);
          if (status === 200) broken.push(`a forged capability opened /data/${path}`);
        }
      }
      for (const path of [`program/${others}`, `picture/${others}`]) {
        const { status } = await h.ask('GET', `/data/${path}?cap=${encodeURIComponent(cap)}`);
        if (status === 200) broken.push(`the capability of another job opened /data/${path}`);
      }
      return broken;
    },
  },
  {
    name: 'mutated-frames',
    tries: 'attaches 60 times, and sends valid frames of which some bytes are changed at random',
    holds: 'each bad frame ends its own connection or incarnation',
    async run(h) {
      const seat = await takeSeat(h, { size: 2 });
      let seed = 1;
      const draw = (n: number): number => (seed = (Math.imul(seed, 48_271) + 11) >>> 1) % n;
      for (let round = 0; round < 60; round++) {
        const a = seat.tasks[round % 2]!;
        const link = await DataSocket.attached(h, a).catch(() => undefined);
        if (!link) break;
        for (let i = 0; i < 40 && link.open; i++) {
          const frame =
            draw(2) === 0
              ? link.data(taskId(draw(3)), 1 + draw(3), new Uint8Array(draw(200)))
              : link.frame([Kind.CREDIT, Kind.PULL, Kind.RESUPPLY, Kind.DETERMINANTS, Kind.MARK, Kind.CUT][draw(6)]!, {
                  arrival: draw(5),
                  word: draw(5),
                  size: draw(1 << 30),
                });
          for (let k = draw(4); k >= 0; k--) frame[draw(frame.length)] = draw(256);
          link.ws.send(frame);
        }
        link.ws.close();
      }
      await settle(h);
      return [];
    },
  },
  {
    name: 'messages-to-nobody',
    tries: 'sends to ranks that do not exist, with numbers that skip, sizes of 4 GiB and parts that overlap',
    holds: 'nothing is kept for anybody who is not there',
    async run(h, { owner }) {
      const seat = await takeSeat(h, { size: 2 });
      const chunk = new Uint8Array(64 * 1024);
      const broken: string[] = [];
      for (const [what, more, dst] of [
        ['a rank that does not exist', {}, 5000],
        ['a size of 4 GiB', { size: 0xffff_fff8, flags: 0 }, 1],
        ['a number that skips', { channel: 1000 }, 1],
        ['a part in the middle', { offset: 64 * 1024, size: 256 * 1024, flags: 0 }, 1],
      ] as const) {
        const link = await DataSocket.attached(h, seat.tasks[0]!).catch(() => undefined);
        if (!link) break;
        await h.pour(link.ws, 64, () => link.data(taskId(dst), 1, chunk, more));
        if (!(await link.ended(5000 * h.slowness))) broken.push(`${what} did not end the connection`);
        link.ws.terminate();
        await within(5000 * h.slowness, () => seat.tasks[0]!.incarnation > link.a.incarnation);
      }
      await owner.request('POST', `/api/jobs/${seat.job}/cancel`);
      return broken;
    },
  },
  {
    name: 'pulls-that-nobody-reads',
    tries: 'sends itself 24 MB, asks 4,000 times for all of it, and reads nothing',
    holds: 'what waits for one socket has a limit',
    async run(h) {
      const seat = await takeSeat(h, { size: 1 });
      const link = await DataSocket.attached(h, seat.tasks[0]!);
      const MESSAGE = 2 * MIB;
      const chunk = new Uint8Array(64 * 1024);
      for (let m = 1; m <= 12; m++)
        await h.pour(link.ws, MESSAGE / chunk.length, (n) =>
          link.data(taskId(0), m, chunk, {
            offset: n * chunk.length,
            size: MESSAGE,
            flags: (n + 1) * chunk.length === MESSAGE ? Flag.LAST : 0,
          }),
        );
      link.ws.send(credit(link));
      await within(5000 * h.slowness, () => (link.kinds.get(Kind.ARRIVAL) ?? 0) > 0);
      link.ws.pause();
      for (let i = 0; i < 4000 && link.open; i++)
        link.ws.send(link.frame(Kind.PULL, { arrival: 1 + (i % 12), word: 0 }));
      await settle(h, 3000);
      return [];
    },
  },
  {
    name: 'links-without-end',
    tries: 'attaches the same task on 400 connections, as clones of itself',
    holds: 'one connection speaks for a task; the others are refused or ended',
    async run(h) {
      const seat = await takeSeat(h);
      const links: DataSocket[] = [];
      await inParallel(400, 16, async (i) => {
        const link = await DataSocket.open(h, seat.tasks[0]!, { nonce: `nonce-number-${i}` }).catch(() => undefined);
        if (link) links.push(link);
      });
      await within(5000 * h.slowness, () => links.filter((l) => l.open).length <= 1);
      const open = links.filter((l) => l.open).length;
      return open <= 1 ? [] : [`${open} connections speak for one incarnation`];
    },
  },
  {
    name: 'determinants-without-end',
    tries: 'sends 300 MB of determinants of events that never took place',
    holds: 'they count for the log of the job, and stay out of the server’s memory',
    async run(h) {
      const seat = await takeSeat(h);
      const link = await DataSocket.attached(h, seat.tasks[0]!);
      const value = 'x'.repeat(60_000);
      await h.pour(link.ws, (300 * MIB) / 60_000 / 16, (i) =>
        link.frame(
          Kind.DETERMINANTS,
          { size: 0 },
          undefined,
          encodeDeterminants({
            first: i * 16,
            consumed: 0,
            openPolls: 0,
            entries: Array.from({ length: 16 }, () => ({ type: 'value' as const, value })),
          }),
        ),
      );
      await settle(h);
      return [];
    },
  },
];
