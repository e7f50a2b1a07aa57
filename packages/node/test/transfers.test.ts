/** What goes between a node and the server beside messages: programs, and pages of images down and up. */
import { describe, expect, it } from 'vitest';
import { createHash, cutImage, distinctPages, unpackPage } from '@mayfly/checkpoint';
import { PAGE_BYTES, type Assignment, type Manifest, type TaskId } from '@mayfly/wire';
import { Fetcher } from '../src/comm/fetcher.ts';
import { ImageUploads } from '../src/comm/image-uploads.ts';
import { Ask, CommSide, createRankMemory, RankSide } from '../src/ring/index.ts';

describe('programs', () => {
  it('a rank that leaves, or is refused, while its program is on the way takes no other rank of the node with it', async () => {
    const of = await createHash();
    const bytes = new TextEncoder().encode('a program');
    const answers: ((fenced: boolean) => void)[] = [];
    const get = (url: string): Promise<{ status: number; bytes: Uint8Array }> =>
      new Promise((resolve) =>
        answers.push((fenced) =>
          resolve(
            fenced
              ? {
                  status: 409,
                  bytes: new TextEncoder().encode(JSON.stringify({ code: 'FENCED', message: new URL(url).search })),
                }
              : { status: 200, bytes },
          ),
        ),
      );
    const fetcher = new Fetcher('http://server', { get, after: () => () => undefined } as never);
    const asks = (capability: string): Promise<unknown> =>
      fetcher
        .program(
          {
            job: 'j',
            capability,
            program: { hash: of(bytes), language: 'typescript', entry: 'x' },
          } as unknown as Assignment,
          () => true,
        )
        .catch((e: unknown) => String(e));
    const [killed, other, third] = [asks('killed'), asks('other'), asks('third')];
    while (answers.length < 1) await new Promise((r) => setImmediate(r));
    answers[0]!(true);
    expect(await killed).toContain('?cap=killed');
    // What failed with the first is asked for again, once.
    let over = false;
    void other.then(() => (over = true));
    while (answers.length < 2 && !over) await new Promise((r) => setImmediate(r));
    answers[1]?.(false);
    expect([await other, await third]).toEqual(['a program', 'a program']);
    expect(answers).toHaveLength(2);
  });
});

describe('images', () => {
  it('of another build of the program are refused before a page is fetched', async () => {
    const asked: string[] = [];
    const fetcher = new Fetcher('http://server', {
      get: async (url: string) => (asked.push(url), { status: 404, bytes: new Uint8Array(0) }),
    } as never);
    const a = {
      job: 'j',
      capability: 'c',
      program: { hash: 'this build', language: 'c', entry: 'x' },
    } as unknown as Assignment;
    await expect(
      fetcher.image(a, { image: 'j-0-0-1', program: 'another', pages: ['page'] } as never, undefined, () => true),
    ).rejects.toThrow('written by another build of the program');
    expect(asked).toEqual([]);
  });

  it('come in runs of pages; what is damaged, cut off or refused there is fetched alone', async () => {
    const of = await createHash();
    const bytes = new Uint8Array(140 * PAGE_BYTES + 100);
    for (let i = 0; i < bytes.length; i += 509) bytes[i] = 1 + (i % 251);
    bytes[bytes.length - 1] = 7;
    // A page of zeros, one that stands twice, and a short one at the end.
    bytes.fill(0, 5 * PAGE_BYTES, 6 * PAGE_BYTES).copyWithin(9 * PAGE_BYTES, 0, PAGE_BYTES);
    const cut = await cutImage([
      { name: 'a', bytes: bytes.subarray(0, 1000) },
      { name: 'b', bytes: bytes.subarray(1000) },
    ]);
    const manifest = {
      image: 'j-0-0-1',
      program: 'p',
      bytes: cut.bytes,
      pages: cut.pages,
      sections: cut.sections,
    } as unknown as Manifest;
    const distinct = distinctPages(manifest);
    expect(distinct).toHaveLength(139);
    const a = {
      job: 'j',
      task: 0,
      capability: 'c',
      program: { hash: 'p', language: 'c', entry: 'x' },
    } as unknown as Assignment;
    const fetched = async (
      run: (all: Uint8Array, from: number) => Uint8Array | undefined,
    ): Promise<{ runs: number; single: number; notes: string[] }> => {
      const seen = { runs: 0, single: 0, notes: [] as string[] };
      const get = async (url: string): Promise<{ status: number; bytes: Uint8Array }> => {
        const u = new URL(url);
        const [from, count] = [Number(u.searchParams.get('from')), Number(u.searchParams.get('count'))];
        if (count === 1) {
          seen.single++;
          return { status: 200, bytes: cut.data.get(distinct[from]!.name)! };
        }
        seen.runs++;
        const answer = run(
          Uint8Array.from(Buffer.concat(distinct.slice(from, from + count).map(({ name }) => cut.data.get(name)!))),
          from,
        );
        return answer ? { status: 200, bytes: answer } : { status: 404, bytes: new Uint8Array(0) };
      };
      const fetcher = new Fetcher('http://server', { get, after: () => () => undefined } as never, (text) =>
        seen.notes.push(text),
      );
      const sections = await fetcher.image(a, manifest, undefined, () => true);
      expect(of(Buffer.concat([...sections.values()]))).toBe(of(bytes));
      return seen;
    };
    expect(await fetched((all) => all)).toEqual({ runs: 2, single: 0, notes: [] });
    expect(await fetched((all, from) => ((all[from === 0 ? 70_000 : 0]! ^= from === 0 ? 1 : 0), all))).toEqual({
      runs: 2,
      single: 1,
      notes: [],
    });
    expect(await fetched((all, from) => (from === 0 ? all.subarray(0, 100 * PAGE_BYTES + 5) : all))).toEqual({
      runs: 2,
      single: 28,
      notes: [],
    });
    expect(await fetched(() => undefined)).toMatchObject({
      single: 139,
      notes: expect.arrayContaining([expect.stringContaining('one by one')]) as unknown,
    });
  });

  it('are deflated where the network is slower than that, and only there', async () => {
    /** Uploads one image of 40 pages; the codecs of its pages. */
    const codecs = async (
      uploads: {
        add: ImageUploads['add'];
        socket: { sent: unknown[]; onmessage: ((e: { data: unknown }) => void) | null };
      },
      serial: number,
    ): Promise<number[]> => {
      let x = serial;
      const bytes = new Uint8Array(40 * PAGE_BYTES).map((_, i) =>
        i & 1 ? (x = Math.imul(x, 1103515245) + 12345) >>> 16 : serial,
      );
      const cut = await cutImage([{ name: 'a', bytes }]);
      const manifest = { image: `j-0-0-${serial}`, task: 0, pages: cut.pages } as unknown as Manifest;
      uploads.socket.sent = [];
      uploads.add(manifest, cut, 'c');
      const heard = async (type: string): Promise<void> => {
        while (
          !uploads.socket.sent.some((m) => typeof m === 'string' && (JSON.parse(m) as { type: string }).type === type)
        )
          await new Promise((r) => setImmediate(r));
      };
      await heard('offer');
      uploads.socket.onmessage!({
        data: JSON.stringify({ type: 'need', image: manifest.image, pages: cut.pages.map((_, i) => i) }),
      });
      await heard('end');
      for (const type of ['stored', 'complete'])
        uploads.socket.onmessage!({ data: JSON.stringify({ type, image: manifest.image }) });
      return uploads.socket.sent.filter((m): m is Uint8Array => typeof m !== 'string').map((m) => unpackPage(m).codec);
    };
    /** A network that takes `rate` bytes a millisecond; a millisecond goes by whenever somebody looks. */
    const over = (link: { rate: number }): Parameters<typeof codecs>[0] => {
      let now = 0;
      let buffered = 0;
      const pass = (ms: number): void => {
        now += ms;
        buffered = Math.max(0, buffered - ms * link.rate);
      };
      const socket = {
        sent: [] as unknown[],
        binaryType: '',
        close: () => undefined,
        onopen: null as (() => void) | null,
        onclose: null,
        onerror: null,
        onmessage: null,
        get bufferedAmount() {
          pass(1);
          return buffered;
        },
        send(data: Uint8Array | string) {
          // As `ws` does: what it was given is kept, not copied.
          socket.sent.push(data);
          buffered += data.length;
        },
      };
      const seams = {
        openSocket: () => (setImmediate(() => socket.onopen?.()), socket),
        now: () => now,
        after(ms: number, run: () => void) {
          const at = setImmediate(() => {
            pass(ms);
            run();
          });
          return () => clearImmediate(at);
        },
        random: () => 0.5,
      };
      const nothing = (): void => undefined;
      const uploads = new ImageUploads('http://server/data/image', seams as never, {
        onComplete: nothing,
        onRefused: nothing,
        onIdle: nothing,
      });
      return { add: (...args) => uploads.add(...args), socket };
    };
    expect(new Set(await codecs(over({ rate: 50_000 }), 1))).toEqual(new Set([0]));
    const link = { rate: 500 };
    const uploads = over(link);
    const slow = await codecs(uploads, 1);
    // The first megabyte finds out.
    expect(slow.indexOf(1)).toBeGreaterThan(10);
    expect(new Set(slow.slice(slow.indexOf(1)))).toEqual(new Set([1]));
    // The next image knows, until the network has become faster.
    expect((await codecs(uploads, 2))[0]).toBe(1);
    link.rate = 50_000;
    expect((await codecs(uploads, 3)).at(-1)).toBe(0);
  });

  it('U1: a rank that leaves in the middle of its upload does not keep the next image of another one', async () => {
    const sockets: { sent: string[]; onopen?: () => void; onmessage?: (e: { data: unknown }) => void }[] = [];
    const openSocket = (): unknown => {
      const sent: string[] = [];
      const socket = { sent, bufferedAmount: 0, send: (m: string) => sent.push(m), close: () => undefined };
      sockets.push(socket);
      return socket;
    };
    const idle: TaskId[] = [];
    const nothing = (): void => undefined;
    const uploads = new ImageUploads('http://server', { openSocket, after: () => nothing } as never, {
      onComplete: nothing,
      onRefused: nothing,
      onIdle: (task) => idle.push(task),
    });
    const cut = await cutImage([{ name: 'a', bytes: new Uint8Array(10) }]);
    const add = (task: number, serial: number): void =>
      uploads.add({ image: `j-${task}-0-${serial}`, task, pages: cut.pages } as unknown as Manifest, cut, 'c');
    const says = (type: string, image: string): void =>
      sockets.at(-1)!.onmessage!({ data: JSON.stringify({ type, image }) });
    const offered = (): string[] => sockets.flatMap((s) => s.sent.flatMap((m) => /j-\d-0-\d/.exec(m)?.[0] ?? []));

    add(0, 1);
    sockets[0]!.onopen!();
    says('stored', 'j-0-0-1');
    add(1, 1);
    // That the image of rank 0 is complete would have come over the connection that ends here.
    uploads.forget(1 as TaskId);
    expect(idle).toEqual([0]);
    add(0, 2);
    sockets.at(-1)!.onopen!();
    expect([sockets.length, offered()]).toEqual([2, ['j-0-0-1', 'j-1-0-1', 'j-0-0-2']]);
  });

  it('what a rank is asked reaches it while it waits, and again when the image before it is done', () => {
    const memory = createRankMemory(4096, 4096);
    const comm = new CommSide(memory, () => undefined, undefined);
    const rank = new RankSide(memory);
    const bell = (): number => rank.words[112]!;
    const before = bell();
    comm.ask(Ask.CHECKPOINT | Ask.LEAVE);
    expect(bell()).not.toBe(before);
    expect(rank.asked(Ask.CHECKPOINT)).toBe(true);
    expect(rank.asked(Ask.CHECKPOINT)).toBe(false);
    rank.imageUnderWay = true;
    const between = bell();
    comm.imageDone();
    expect(rank.imageUnderWay).toBe(false);
    // LEAVE is still to be obeyed.
    expect(bell()).not.toBe(between);
    expect(rank.asked(Ask.LEAVE)).toBe(true);
  });
});
