import { IMAGE_FORMAT, imageIdOf, incarnation, jobId, taskId, type Manifest, type Position } from '@mayfly/wire';
import { describe, expect, it } from 'vitest';
import {
  type ReplayFrom,
  type Line,
  zeroLine,
  replayOf,
  positionOf,
  CheckpointServer,
  type CheckpointServerEffect,
  type CheckpointServerEvent,
  type CheckpointServerSettings,
} from '../src/index.ts';
import { page, type EffectOf, type EventOf } from './checkpoint-server-stage.ts';

const J = jobId('job000000000');
const T = taskId(1);
const program = 'f'.repeat(64);

const line = (arrivals: number, determinants = arrivals): Line => ({ ...zeroLine(), arrivals, determinants });
const at = (image: Line, held: number[] = []): Position => positionOf({ prologue: zeroLine(), image, held });
const manifest = (serial: number, over: Partial<Manifest> = {}, inc = 0): Manifest => ({
  format: IMAGE_FORMAT,
  image: imageIdOf(J, T, incarnation(inc), serial),
  job: J,
  task: T,
  incarnation: incarnation(inc),
  program,
  serial,
  position: at(line(10 * serial)),
  sections: [{ name: 'data', bytes: 100_000 }],
  pages: [page(serial), page(1000)],
  bytes: 100_000,
  ...over,
});

class Stage {
  now = 0;
  readonly registry = new Map<string, unknown>();
  readonly effects: CheckpointServerEffect[] = [];
  core: CheckpointServer;
  readonly #settings: Partial<CheckpointServerSettings>;

  constructor(settings: Partial<CheckpointServerSettings> = {}) {
    this.#settings = settings;
    this.core = new CheckpointServer(settings);
    this.open();
  }

  open(acting = 0, programs = [{ count: 4, hash: program }]): void {
    const job = { job: J, protocol: 'pessimistic' as const, size: 4, channelMemories: 2, programs };
    this.send('openJob', { ...job, acting: [[T, incarnation(acting)]] });
  }

  send<K extends CheckpointServerEvent['type']>(type: K, e: EventOf<K>): CheckpointServerEffect[] {
    const out = this.core.step({ type, now: this.now, ...e } as unknown as CheckpointServerEvent);
    this.effects.push(...out);
    return out;
  }

  crash(acting = 0): void {
    this.core = new CheckpointServer(this.#settings);
    this.send('recover', { entries: [...this.registry] });
    this.open(acting);
  }

  of<K extends CheckpointServerEffect['type']>(type: K): EffectOf<K>[] {
    return this.effects.filter((e): e is EffectOf<K> => e.type === type);
  }

  write(changes: readonly (readonly [string, unknown])[]): void {
    for (const [k, v] of changes) {
      if (v === undefined) this.registry.delete(k);
      else this.registry.set(k, v);
    }
  }

  /** Offer up to and with all pages and `end`. */
  upload(m: Manifest, link = 'L', missing: readonly string[] = m.pages.slice(0, 1)): void {
    const [find] = this.send('offer', { link, job: J, task: T, incarnation: m.incarnation, manifest: m });
    if (find?.type !== 'findPages') throw new Error(`not taken: ${JSON.stringify(find)}`);
    this.send('pagesFound', { image: m.image, ask: find.ask, missing });
    const need = this.of('need').at(-1)!;
    for (const index of need.pages) this.send('pageStored', { link, image: m.image, index, bytes: 65_536 });
    this.send('end', { link, image: m.image });
  }

  cover(m: Manifest): void {
    const to = replayOf(m.position).image.determinants;
    this.send('covered', { image: m.image, cm: 0, determinants: [[0, to - 3]] });
    this.send('covered', { image: m.image, cm: 1, determinants: [[to - 5, to]] });
  }

  commit(m: Manifest): void {
    const c = this.of('commit').at(-1)!;
    expect(c.image).toBe(m.image);
    this.write(c.changes);
    this.send('committed', { image: m.image });
  }

  complete(m: Manifest): void {
    this.upload(m);
    this.cover(m);
    this.commit(m);
  }

  refusal(m: Manifest, inc = m.incarnation): string | undefined {
    const [e] = this.send('offer', { link: 'R', job: J, task: T, incarnation: inc, manifest: m });
    return e?.type === 'reply' && e.reply === 'refused' ? e.error!.code : undefined;
  }

  restart(inc: number): void {
    this.send('restart', { job: J, task: T, incarnation: incarnation(inc) });
  }
}

describe('an image becomes complete', () => {
  it('asks for the pages that are missing, each once, and not for the page of zeros', () => {
    const s = new Stage();
    const m = manifest(1, {
      pages: [page(1), '', page(2), page(1), page(3)],
      sections: [{ name: 'data', bytes: 4 * 65_536 + 100 }],
      bytes: 4 * 65_536 + 100,
    });
    const [find] = s.send('offer', { link: 'L', job: J, task: T, incarnation: m.incarnation, manifest: m });
    expect(find).toMatchObject({ type: 'findPages', pages: [page(1), page(2), page(3)] });
    s.send('pagesFound', { image: m.image, ask: (find as EffectOf<'findPages'>).ask, missing: [page(3), page(1)] });
    expect(s.of('need')[0]!.pages).toEqual([0, 4]);
    expect(s.core.wanted('L', m.image, 4)).toBe(page(3));
    expect(s.core.wanted('L', m.image, 2)).toBeUndefined();
    expect(s.core.wanted('other', m.image, 4)).toBeUndefined();
    expect(s.core.comingOf(J, T)).toEqual({ sentBytes: 0, ofBytes: 65_636 });
    s.send('pageStored', { link: 'L', image: m.image, index: 0, bytes: 65_536 });
    expect(s.core.comingOf(J, T)).toEqual({ sentBytes: 65_536, ofBytes: 65_636 });
  });

  it('C1: only when every page is durable', () => {
    const s = new Stage();
    const m = manifest(1);
    const [find] = s.send('offer', { link: 'L', job: J, task: T, incarnation: m.incarnation, manifest: m });
    s.send('pagesFound', { image: m.image, ask: (find as EffectOf<'findPages'>).ask, missing: [page(1)] });
    s.send('end', { link: 'L', image: m.image });
    expect(s.of('reply')).toMatchObject([{ reply: 'refused' }]);
    expect(s.of('cover')).toEqual([]);
  });

  it('C1: only when every CM has covered its line', () => {
    const s = new Stage();
    const m = manifest(1);
    s.upload(m);
    expect(s.of('reply')).toMatchObject([{ reply: 'stored' }]);
    expect(s.of('cover').map((c) => c.cm)).toEqual([0, 1]);
    s.send('covered', { image: m.image, cm: 0, determinants: [[0, 10]] });
    expect(s.of('commit')).toEqual([]);
    s.send('covered', { image: m.image, cm: 1, determinants: [] });
    expect(s.of('commit')).toHaveLength(1);
  });

  it('C1: only when the determinants are contiguous over all CMs; an answer that comes again counts', () => {
    const s = new Stage();
    const m = manifest(1);
    s.upload(m);
    s.send('covered', { image: m.image, cm: 0, determinants: [[0, 4]] });
    s.send('covered', { image: m.image, cm: 1, determinants: [[5, 10]] });
    expect(s.of('commit')).toEqual([]);
    s.send('covered', { image: m.image, cm: 0, determinants: [[0, 5]] });
    expect(s.of('commit')).toHaveLength(1);
  });

  it(
    'C2: announced after the commit; "this special message is acknowledged by the CS when the transfer of the ' +
      'checkpoint image is completed" (§3.4)',
    () => {
      const s = new Stage();
      const m = manifest(1);
      s.upload(m);
      s.cover(m);
      expect(s.of('complete')).toEqual([]);
      s.commit(m);
      expect(s.of('complete')).toMatchObject([{ image: m.image, serial: 1, bytes: 100_000, sentBytes: 65_536 }]);
      expect(s.of('reply').map((r) => r.reply)).toEqual(['stored', 'complete']);
      expect(s.core.imagesOf(J, T)).toMatchObject([{ serial: 1, count: 1 }]);
    },
  );

  it('C3: trims only when two are complete, to the line of the older; the third sends the first away', () => {
    const s = new Stage();
    const held = { position: at(line(10), [4, 7]) };
    s.complete(manifest(1, held));
    expect(s.of('trim')).toEqual([]);
    s.complete(manifest(2, { position: at(line(20), [7, 15]) }));
    expect(s.of('trim').map((t) => [t.cm, replayOf(t.to).image.arrivals, replayOf(t.to).held])).toEqual([
      [0, 10, [4, 7, 15]],
      [1, 10, [4, 7, 15]],
    ]);
    s.complete(manifest(3));
    expect(replayOf(s.of('trim').at(-1)!.to).image.arrivals).toBe(20);
    expect(s.of('discard')).toMatchObject([{ images: [manifest(1).image] }]);
    expect([...s.registry.keys()].filter((k) => k.startsWith('image/'))).toHaveLength(2);
  });

  it('C6: pages of an open offer are pinned', () => {
    const s = new Stage({ collectMs: 0 });
    const m = manifest(1);
    s.send('offer', { link: 'L', job: J, task: T, incarnation: m.incarnation, manifest: m });
    s.send('tick', {});
    expect([...s.of('collect').at(-1)!.pinned]).toEqual(m.pages);
    s.send('linkClosed', { link: 'L' });
    s.now++;
    s.send('tick', {});
    expect(s.of('collect').at(-1)!.pinned.size).toBe(0);
  });

  it('a page that cannot be stored refuses the offer; the node may offer it again', () => {
    const s = new Stage();
    const m = manifest(1);
    const [find] = s.send('offer', { link: 'L', job: J, task: T, incarnation: m.incarnation, manifest: m });
    s.send('pagesFound', { image: m.image, ask: (find as EffectOf<'findPages'>).ask, missing: m.pages });
    s.send('pageFailed', { link: 'L', image: m.image, index: 0, error: { code: 'DISK_FULL', message: '' } });
    expect(s.of('reply')).toMatchObject([{ reply: 'refused', error: { code: 'DISK_FULL' } }]);
    s.complete(m);
  });

  it('goes on without its node once all pages are here; the node may come back and ask', () => {
    const s = new Stage();
    const m = manifest(1);
    s.upload(m);
    s.send('linkClosed', { link: 'L' });
    expect(s.send('offer', { link: 'M', job: J, task: T, incarnation: m.incarnation, manifest: m })).toMatchObject([
      { type: 'need', link: 'M', pages: [] },
    ]);
    s.send('end', { link: 'M', image: m.image });
    s.cover(m);
    s.commit(m);
    expect(s.of('reply').at(-1)).toMatchObject({ link: 'M', reply: 'complete' });
    expect(s.send('offer', { link: 'M', job: J, task: T, incarnation: m.incarnation, manifest: m })).toMatchObject([
      { reply: 'complete' },
    ]);
  });

  it(
    'an offer whose node vanished before its pages were here makes room; a late answer to it is not taken for ' +
      'the next one',
    () => {
      const s = new Stage();
      const m = manifest(1);
      const [first] = s.send('offer', { link: 'L', job: J, task: T, incarnation: m.incarnation, manifest: m });
      s.send('linkClosed', { link: 'L' });
      const [second] = s.send('offer', { link: 'M', job: J, task: T, incarnation: m.incarnation, manifest: m });
      s.send('pagesFound', { image: m.image, ask: (first as EffectOf<'findPages'>).ask, missing: [] });
      expect(s.of('need')).toEqual([]);
      s.send('pagesFound', { image: m.image, ask: (second as EffectOf<'findPages'>).ask, missing: m.pages });
      expect(s.of('need')).toMatchObject([{ link: 'M', pages: [0, 1] }]);
      s.send('linkClosed', { link: 'M' });
      s.complete(manifest(2));
    },
  );

  it('gives up what the CMs never cover', () => {
    const s = new Stage({ coverMs: 1000, askAgainMs: 400 });
    s.upload(manifest(1));
    s.now = 500;
    s.send('tick', {});
    expect(s.of('cover')).toHaveLength(4);
    s.now = 1001;
    s.send('tick', {});
    expect(s.of('reply').at(-1)!.error?.code).toBe('CONFLICT');
    expect(s.of('uncover')).toHaveLength(2);
    s.complete(manifest(2));
  });
});

describe('refusals', () => {
  it('an image is one of the program of its task; of a spawned task, any program of its job', () => {
    const [other, foreign] = [page(7), page(8)];
    const parts = (...of: number[]) => of.map((count, n) => ({ count, hash: [program, other][n]! }));
    const refusals = (programs: ReturnType<typeof parts>) =>
      [program, other, foreign].map((hash) => {
        const s = new Stage();
        s.open(0, programs);
        return s.refusal(manifest(1, { program: hash }));
      });
    expect(refusals(parts(2, 2))).toEqual([undefined, 'CONFLICT', 'CONFLICT']);
    expect(refusals(parts(1, 3))).toEqual(['CONFLICT', undefined, 'CONFLICT']);
    expect(refusals(parts(1, 0))).toEqual([undefined, undefined, 'CONFLICT']);
  });

  it('C4, C5 and every untrue word of a manifest', () => {
    const s = new Stage();
    s.complete(manifest(2));
    expect(s.refusal(manifest(3, {}, 1), incarnation(1))).toBe('FENCED');
    expect(s.refusal(manifest(3, {}, 1), incarnation(0))).toBe('FORBIDDEN');
    expect(s.refusal(manifest(1))).toBe('CONFLICT');
    expect(s.refusal(manifest(3, { program: page(1) }))).toBe('CONFLICT');
    expect(s.refusal(manifest(3, { task: taskId(2) }))).toBe('FORBIDDEN');
    expect(s.refusal(manifest(3, { image: imageIdOf(J, taskId(2), incarnation(0), 3) }))).toBe('BAD_REQUEST');
    expect(s.refusal(manifest(3, { bytes: 99 }))).toBe('BAD_REQUEST');
    expect(s.refusal(manifest(3, { pages: [page(1)] }))).toBe('BAD_REQUEST');
    expect(s.refusal(manifest(3, { bytes: 5e9, sections: [{ name: 'data', bytes: 5e9 }] }))).toBe('TOO_LARGE');
    const replay = (r: Partial<ReplayFrom>) =>
      manifest(3, { position: positionOf({ prologue: zeroLine(), image: line(30), held: [], ...r }) });
    expect(s.refusal(replay({ image: line(19) }))).toBe('BAD_REQUEST');
    expect(s.refusal(replay({ prologue: line(1) }))).toBe('BAD_REQUEST');
    expect(s.refusal(replay({ image: { ...line(30), sends: [[taskId(4), 1]] } }))).toBe('BAD_REQUEST');
    expect(s.refusal(replay({ held: [31] }))).toBe('BAD_REQUEST');
    expect(s.refusal(replay({ held: [5, 5] }))).toBe('BAD_REQUEST');
    s.complete(manifest(3));
    expect(s.refusal(manifest(4, { position: at(line(40), [5]) }))).toBe('BAD_REQUEST');
    s.send('taskDone', { job: J, task: T });
    expect(s.refusal(manifest(4))).toBe('UNKNOWN_JOB');
  });

  it('one offer at a time per task', () => {
    const s = new Stage();
    s.upload(manifest(1));
    expect(s.refusal(manifest(2))).toBe('TOO_MANY');
  });
});

describe('restart', () => {
  it(
    '"The CS responds to the request by sending back the last checkpoint corresponding to the MPI rank" ' +
      '(§3.4): the newest complete and sound one',
    () => {
      const s = new Stage();
      s.restart(1);
      expect(s.of('chosen')).toEqual([{ type: 'chosen', job: J, task: T, incarnation: 1 }]);
      for (const n of [1, 2]) s.complete(manifest(n, {}, 1));
      s.restart(2);
      const newest = manifest(2, {}, 1).image;
      expect(s.of('check').at(-1)!.image).toBe(newest);
      s.send('checked', { image: newest, sound: true });
      expect(s.of('chosen').at(-1)).toMatchObject({ incarnation: 2, image: newest });
    },
  );

  it('a damaged image costs time and no answer: the older one is taken', () => {
    const s = new Stage();
    for (const n of [1, 2]) s.complete(manifest(n));
    s.restart(1);
    s.send('checked', { image: manifest(2).image, sound: false });
    s.send('checked', { image: manifest(1).image, sound: true });
    expect(s.of('chosen').at(-1)!.image).toBe(manifest(1).image);
    expect(s.of('discard').at(-1)!.images).toEqual([manifest(2).image]);
    s.complete(manifest(2, {}, 1)); // the serial is free again
  });

  it('C3: before logs were trimmed, the start of the program is sound; afterwards it is not', () => {
    const s = new Stage();
    s.complete(manifest(1));
    s.restart(1);
    s.send('checked', { image: manifest(1).image, sound: false });
    expect(s.of('chosen')).toEqual([{ type: 'chosen', job: J, task: T, incarnation: 1 }]);
    for (const n of [1, 2]) s.complete(manifest(n, {}, 1));
    s.restart(2);
    for (const n of [2, 1]) s.send('checked', { image: manifest(n, {}, 1).image, sound: false });
    expect(s.of('lost')).toMatchObject([{ incarnation: 2, error: { code: 'LOST_CHECKPOINTS' } }]);
  });

  it('C4: a fence ends the offers of the old incarnation', () => {
    const s = new Stage();
    const m = manifest(1);
    s.upload(m);
    s.restart(1);
    expect(s.of('reply').at(-1)).toMatchObject({ reply: 'refused', error: { code: 'FENCED' } });
    s.cover(m);
    expect(s.of('commit')).toEqual([]);
    expect(s.refusal(manifest(2))).toBe('FENCED');
  });

  it('C4: a job that is opened again lets the acting incarnation only rise', () => {
    const s = new Stage();
    s.restart(2);
    s.open(); // says 0
    expect(s.refusal(manifest(1, {}, 0), incarnation(0))).toBe('FENCED');
    expect(s.refusal(manifest(1, {}, 2), incarnation(2))).toBeUndefined();
    s.open(3);
    expect(s.refusal(manifest(1, {}, 2), incarnation(2))).toBe('FENCED');
    s.send('linkClosed', { link: 'R' });
    expect(s.refusal(manifest(1, {}, 3), incarnation(3))).toBeUndefined();
  });
  it('C4: the choice waits for a commit that is under way', () => {
    const s = new Stage();
    const m = manifest(1);
    s.upload(m);
    s.cover(m);
    s.restart(1);
    expect(s.of('chosen')).toEqual([]);
    s.commit(m);
    expect(s.of('check').at(-1)!.image).toBe(m.image);
    s.restart(2); // while the image is looked at
    s.send('checked', { image: m.image, sound: true });
    expect(s.of('chosen')).toMatchObject([{ incarnation: 2, image: m.image }]);
  });

  it('a commit that fails leaves the image before', () => {
    const s = new Stage();
    s.upload(manifest(1));
    s.cover(manifest(1));
    s.restart(1);
    s.send('commitFailed', { image: manifest(1).image, error: { code: 'DISK_FULL', message: '' } });
    expect(s.of('chosen')).toEqual([{ type: 'chosen', job: J, task: T, incarnation: 1 }]);
  });
});

describe('restart of the server', () => {
  it('finds the images, and what the logs were trimmed to, in the registry', () => {
    const s = new Stage();
    for (const n of [1, 2, 3]) s.complete(manifest(n));
    s.effects.length = 0;
    s.crash(0);
    expect(s.core.newest()).toEqual([{ job: J, task: T, image: manifest(3).image, serial: 3 }]);
    expect(s.of('trim').map((t) => replayOf(t.to).image.arrivals)).toEqual([20, 20]);
    s.restart(1);
    for (const n of [3, 2]) s.send('checked', { image: manifest(n).image, sound: false });
    expect(s.of('lost')).toHaveLength(1);
  });

  it('C3: with one image left of two, the older being damaged, nothing is trimmed to the newer one', () => {
    const s = new Stage();
    for (const n of [1, 2, 3]) s.complete(manifest(n));
    s.send('damaged', { job: J, task: T, image: manifest(2).image });
    s.write(s.of('discard').at(-1)!.changes);
    // A second complaint of the same image costs no other one.
    expect(s.send('damaged', { job: J, task: T, image: manifest(2).image })).toEqual([]);
    s.effects.length = 0;
    s.crash(0);
    expect(s.core.imagesOf(J, T)).toHaveLength(1);
    expect(s.of('trim')).toEqual([]);
    s.complete(manifest(4));
    expect(s.of('trim').map((t) => replayOf(t.to).image.arrivals)).toEqual([30, 30]);
  });

  it('an image that was not committed never was; one that was, is complete', () => {
    const s = new Stage();
    s.upload(manifest(1));
    s.cover(manifest(1));
    s.write(s.of('commit').at(-1)!.changes);
    s.crash(0);
    expect(s.core.imagesOf(J, T)).toHaveLength(1);
    s.send('committed', { image: manifest(1).image });
    expect(s.core.imagesOf(J, T)).toHaveLength(1);
    s.upload(manifest(2));
    s.crash(0);
    expect(s.core.imagesOf(J, T)).toHaveLength(1);
    expect(s.refusal(manifest(1))).toBeUndefined();
    expect(s.effects.at(-1)).toMatchObject({ reply: 'complete' });
  });

  it('a task that is done, and a job that is forgotten, leave nothing', () => {
    const s = new Stage();
    for (const n of [1, 2]) s.complete(manifest(n));
    s.upload(manifest(3));
    s.cover(manifest(3));
    s.send('taskDone', { job: J, task: T });
    s.commit(manifest(3));
    s.write(s.of('discard').at(-1)!.changes);
    expect(s.registry.size).toBe(0);
    // The manifests too, also that of the image which the last commit made superfluous.
    expect(
      s
        .of('discard')
        .flatMap((d) => d.images)
        .sort(),
    ).toEqual([1, 2, 3].map((n) => manifest(n).image));
    s.crash(0);
    for (const n of [1, 2]) s.complete(manifest(n));
    s.send('forgetJob', { job: jobId('job-unknown0') }); // one that never had an image
    s.send('forgetJob', { job: J });
    s.write(s.of('discard').at(-1)!.changes);
    expect(s.registry.size).toBe(0);
  });

  it('a task that is done while a commit is under way that then fails leaves nothing either', () => {
    const s = new Stage();
    s.complete(manifest(1));
    s.upload(manifest(2));
    s.cover(manifest(2));
    s.send('taskDone', { job: J, task: T });
    s.send('commitFailed', { image: manifest(2).image, error: { code: 'DISK_FULL', message: '' } });
    s.write(s.of('discard').at(-1)!.changes);
    expect(s.registry.size).toBe(0);
    expect(s.of('discard').flatMap((d) => d.images)).toEqual([manifest(1).image]);
  });
});
