/** Ways of the image plane: pages and manifests of checkpoints. */
import { IMAGE_FORMAT, PAGE_BYTES, imageIdOf, type Assignment, type Incarnation, type JobId } from '@mayfly/wire';
import { deflateRawSync } from 'node:zlib';
import { blake3 } from 'hash-wasm';
import type { WebSocket } from 'ws';
import { within, type Hostile } from '../hostile.ts';
import { imagePathOf, settle, takeSeat } from '../seat.ts';
import type { Way } from '../way.ts';

interface Told {
  type: string;
  pages?: number[];
  error?: { code: string };
}

/** The image socket of a rank, and what it was told. */
async function imageSocket(
  h: Hostile,
  rank: Assignment,
): Promise<{ ws: WebSocket; told: Told[]; next: (n: number) => Promise<Told> }> {
  const ws = await h.webSocket(imagePathOf(rank));
  const told: Told[] = [];
  ws.on('message', (d: Buffer) => told.push(JSON.parse(d.toString()) as Told));
  const next = async (n: number): Promise<Told> => {
    await within(30_000 * h.slowness, () => told.length >= n || ws.readyState !== ws.OPEN);
    return told[n - 1] ?? { type: 'closed' };
  };
  return { ws, told, next };
}

const offerOf = (a: Assignment, serial: number, pages: readonly string[]): string =>
  JSON.stringify({
    type: 'offer',
    capability: a.capability,
    manifest: {
      format: IMAGE_FORMAT,
      image: imageIdOf(a.job as JobId, a.task, a.incarnation as Incarnation, serial),
      job: a.job,
      task: a.task,
      incarnation: a.incarnation,
      program: a.program.hash,
      serial,
      position: a.position,
      sections: [{ name: 'memory', bytes: pages.length * PAGE_BYTES }],
      pages,
      bytes: pages.length * PAGE_BYTES,
    },
  });

function pageOf(index: number, rawLength: number, codec: number, bytes: Uint8Array): Buffer {
  const head = Buffer.alloc(16);
  head.writeUInt32LE(index, 0);
  head.writeUInt32LE(rawLength, 4);
  head.writeUInt8(codec, 8);
  return Buffer.concat([head, bytes]);
}

/** A page with a secret in it that the server stores for somebody else. @returns its hash */
async function secretPage(h: Hostile): Promise<{ hash: string; raw: Buffer; victim: Assignment }> {
  const seat = await takeSeat(h, { name: 'of somebody else' });
  const [victim] = seat.tasks;
  const raw = Buffer.alloc(PAGE_BYTES);
  raw.write(`a secret of ${victim!.job}`);
  const hash = await blake3(raw);
  const { ws, next } = await imageSocket(h, victim!);
  ws.send(offerOf(victim!, 1, [hash]));
  const need = await next(1);
  if (need.type !== 'need') throw new Error(`the victim’s offer was answered with ${JSON.stringify(need)}`);
  ws.send(pageOf(0, raw.length, 0, raw));
  ws.send(JSON.stringify({ type: 'end', image: imageIdOf(victim!.job, victim!.task, victim!.incarnation, 1) }));
  await next(2);
  return { hash, raw, victim: victim! };
}

const hashes = (from: number, count: number): string[] =>
  Array.from({ length: count }, (_, i) => (from + i).toString(16).padStart(64, '0'));

export const images: Way[] = [
  {
    name: 'pages-of-another-job',
    tries: 'asks with the capability of its own job for a page of another job, whose content it has guessed',
    holds: 'a page is served only to a task whose own image has it',
    async run(h) {
      const { hash } = await secretPage(h.from('127.9.9.8'));
      const own = (await takeSeat(h)).tasks[0]!;
      const a = await h.ask('GET', `/data/pages/${own.job}/${hash}?cap=${encodeURIComponent(own.capability)}`);
      return a.status === 200 ? ['the page of another job was served'] : [];
    },
  },
  {
    name: 'guesses-of-pages',
    tries: 'names pages in an offer to learn from `need` which of them the server has of somebody else',
    holds: 'an offer is answered as if nobody else had stored anything',
    async run(h) {
      const { hash } = await secretPage(h.from('127.9.9.8'));
      const own = (await takeSeat(h)).tasks[0]!;
      const { ws, next } = await imageSocket(h, own);
      ws.send(offerOf(own, 1, [...hashes(1, 4), hash, ...hashes(5, 4)]));
      const need = await next(1);
      if (need.type !== 'need') return [];
      return need.pages!.includes(4) ? [] : ['`need` tells that the server has a page of another job'];
    },
  },
  {
    name: 'offers-of-others',
    tries: 'offers images in the name of other tasks, other jobs and other incarnations',
    holds: 'each is refused',
    async run(h, { honestJob }) {
      const own = (await takeSeat(h)).tasks[0]!;
      const { ws, next } = await imageSocket(h, own);
      const broken: string[] = [];
      const all = [{ job: honestJob }, { task: own.task + 1 }, { incarnation: own.incarnation + 1 }];
      for (const [i, more] of all.entries()) {
        ws.send(offerOf({ ...own, ...more } as Assignment, 1, hashes(1, 1)));
        const told = await next(i + 1);
        if (told.type !== 'refused')
          broken.push(`an offer with ${JSON.stringify(more)} was answered with ${told.type}`);
      }
      return broken;
    },
  },
  {
    name: 'largest-offers',
    tries: 'offers 60 images of 65,536 pages each, without waiting for answers',
    holds: 'offers that nobody has finished do not pile up',
    async run(h) {
      const own = (await takeSeat(h)).tasks[0]!;
      const { ws } = await imageSocket(h, own);
      await h.pour(ws, 60, (i) => offerOf(own, i + 1, hashes(i * 65_536, 65_536)));
      await settle(h, 3000);
      return [];
    },
  },
  {
    name: 'pages-that-inflate',
    tries: 'sends pages that are 1 MB packed and 1 GB unpacked, and say that they are 64 KiB',
    holds: 'unpacking stops at the stated length',
    async run(h) {
      const own = (await takeSeat(h)).tasks[0]!;
      const { ws, told } = await imageSocket(h, own);
      const bomb = deflateRawSync(Buffer.alloc(256 << 20), { level: 9 });
      const names = hashes(1, 32);
      ws.send(offerOf(own, 1, names));
      await within(30_000 * h.slowness, () => told.length > 0);
      await h.pour(ws, names.length, (i) => pageOf(i, PAGE_BYTES, 1, bomb));
      await settle(h);
      return told.some((t) => t.type === 'stored') ? ['an image of such pages was stored'] : [];
    },
  },
  {
    name: 'pages-that-nobody-asked-for',
    tries: 'sends 6,000 pages with indices that no offer has',
    holds: 'they are dropped and nothing of them is kept',
    async run(h) {
      const own = (await takeSeat(h)).tasks[0]!;
      const { ws } = await imageSocket(h, own);
      const page = Buffer.alloc(PAGE_BYTES, 7);
      ws.send(offerOf(own, 1, hashes(1, 2)));
      await h.pour(ws, 6000, (i) => pageOf(2 + i, PAGE_BYTES, 0, page));
      await settle(h);
      return [];
    },
  },
];
