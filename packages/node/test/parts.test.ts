/** Small parts: coalescing, status words, the random source, dates. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PLACE_CHARS, type Assignment, type TaskReport } from '@mayfly/wire';
import { coalesce } from '../src/comm/links.ts';
import { Jobs } from '../src/daemon/jobs.ts';
import type { DaemonSeams } from '../src/daemon/seams.ts';
import { createDate } from '../src/rank/date.ts';
import { placeOf } from '../src/rank/place.ts';
import { Random } from '../src/rank/random.ts';
import { CommSide, createRankMemory, RankSide } from '../src/ring/index.ts';
import { RankState, readCalls, readPlaceTimes, readStatus, StatusWriter } from '../src/status.ts';
import { holdOf, lowBattery, nextLook } from '../src/page/policy.ts';
import { AT_EASE, CALM_MS, PRESSED_MS, eased, easeWords, nextEase } from '../src/page/pressure.ts';
import { DutyCycle } from '../src/rank/duty.ts';

describe('coalescing (links L2)', () => {
  it('keeps every byte in order, joins what is small, and copies no neighbours', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.record({
            n: fc.integer({ min: 1, max: 12 }).map((k) => k * 8),
            big: fc.boolean(),
            neighbour: fc.boolean(),
          }),
          { maxLength: 40 },
        ),
        (specs) => {
          let pool = new Uint8Array(0);
          let at = 0;
          let next = 0;
          const frames = specs.map(({ n, big, neighbour }) => {
            const length = big ? n * 3000 : n;
            if (!neighbour || at + length > pool.length) {
              pool = new Uint8Array(4 * 300_000);
              at = 0;
            }
            const f = pool.subarray(at, at + length).fill(next++ & 255);
            at += length;
            return f;
          });
          const out = coalesce(frames);
          expect(Buffer.compare(Buffer.concat(out), Buffer.concat(frames))).toBe(0);
          expect(out.length).toBeLessThanOrEqual(frames.length);
        },
      ),
      { numRuns: 100 },
    );
    const b = new Uint8Array(128);
    const joined = coalesce([b.subarray(0, 64), b.subarray(64, 128)]);
    expect(joined).toHaveLength(1);
    expect(joined[0]!.buffer).toBe(b.buffer);
  });
});

describe('the watchdog over frames (jobs J2)', () => {
  /** Jobs with one frame that says nothing by itself, and a clock that the test moves. */
  async function watched(tells: boolean): Promise<{ seconds(n: number): void; answer(): void; crashed: TaskReport[] }> {
    let now = 0;
    let due: { at: number; run: () => void }[] = [];
    let answer: (m: never) => void = () => undefined;
    const seams = {
      openFrame: async () => ({
        channel: {
          post: () => undefined,
          onMessage: (h: typeof answer) => (answer = h),
          onClose: () => undefined,
          close: () => undefined,
        },
        onDeath: () => undefined,
        tells,
        close: () => undefined,
      }),
      spareFrame: false,
      images: { list: async () => [] },
      now: () => now,
      after(ms: number, run: () => void) {
        const entry = { at: now + ms, run };
        due.push(entry);
        return () => (due = due.filter((e) => e !== entry));
      },
    } as unknown as DaemonSeams;
    const crashed: TaskReport[] = [];
    const nothing = (): void => undefined;
    const jobs = new Jobs(seams, {
      onReport: (r) => void crashed.push(r),
      onEnded: nothing,
      onImage: nothing,
      onChange: nothing,
      onNote: nothing,
    });
    await jobs.assign({ job: 'job', task: 0, incarnation: 0 } as unknown as Assignment, 0, 'here');
    return {
      seconds(n) {
        for (let i = 0; i < n; i++) {
          now += 1000;
          const ready = due.filter((e) => e.at <= now);
          due = due.filter((e) => e.at > now);
          for (const e of ready) e.run();
        }
      },
      answer: () => answer({ type: 'pong', n: 0 } as never),
      crashed,
    };
  }

  it(
    'a frame that answered, and then does not, is dead after six pings; one that is still being started is ' +
      'waited for',
    async () => {
      const frame = await watched(false);
      frame.seconds(30);
      expect(frame.crashed).toEqual([]);
      frame.answer();
      frame.seconds(6);
      expect(frame.crashed).toEqual([]);
      frame.seconds(2);
      expect(frame.crashed).toMatchObject([{ task: 0, event: 'crashed' }]);
    },
  );

  it('where the host tells of deaths, silence is a busy machine for a minute', async () => {
    const frame = await watched(true);
    frame.answer();
    frame.seconds(59);
    expect(frame.crashed).toEqual([]);
    frame.seconds(3);
    expect(frame.crashed).toMatchObject([{ task: 0, event: 'crashed' }]);
  });
});

describe('the spare frame (jobs J4)', () => {
  it(
    'is there before the first job, serves one job, is replaced when that is over, and is not used when it ' +
      'died or would not open',
    async () => {
      const frames: {
        id: number;
        open: boolean;
        posted: { type: string }[];
        die(why: string): void;
        say(m: object): void;
      }[] = [];
      let refuse = false;
      let due: (() => void)[] = [];
      const seams = {
        openFrame: async () => {
          if (refuse) throw new Error('no frame');
          let died: (why: string) => void = () => undefined;
          const heard: ((m: never) => void)[] = [];
          const f = {
            id: frames.length,
            open: true,
            posted: [] as { type: string }[],
            die: (why: string) => died(why),
            say: (m: object) => heard.forEach((h) => h(m as never)),
          };
          frames.push(f);
          return {
            channel: {
              post: (m: never) => f.posted.push(m),
              onMessage: (h: (m: never) => void) => heard.push(h),
              onClose: () => undefined,
              close: () => undefined,
            },
            onDeath: (h: typeof died) => (died = h),
            tells: false,
            close: () => (f.open = false),
          };
        },
        spareFrame: true,
        images: { list: async () => [], forget: async () => undefined },
        now: () => 0,
        after: (_ms: number, run: () => void) => (due.push(run), () => (due = due.filter((d) => d !== run))),
      } as unknown as DaemonSeams;
      const crashed: TaskReport[] = [];
      const nothing = (): void => undefined;
      const jobs = new Jobs(seams, {
        onReport: (r) => void crashed.push(r),
        onEnded: nothing,
        onImage: nothing,
        onChange: nothing,
        onNote: nothing,
      });
      const assign = (job: string, task = 0): Promise<void> =>
        jobs.assign({ job, task, incarnation: 0 } as unknown as Assignment, 0, 'here');
      const assigned = (): number[] => frames.filter((f) => f.posted.some((m) => m.type === 'assign')).map((f) => f.id);
      const settle = (): Promise<void> => new Promise((r) => setImmediate(r));
      await assign('cold');
      expect(assigned()).toEqual([0]);
      jobs.warm();
      await settle();
      // A node with ranks keeps none.
      expect(frames).toHaveLength(1);
      frames[0]!.die('gone');
      await settle();
      expect(crashed).toHaveLength(1);
      expect(frames.map((f) => f.open)).toEqual([false, true]);
      await Promise.all([assign('first'), assign('second'), assign('first', 1)]);
      expect(assigned()).toEqual([0, 1, 2]);
      expect(frames[1]!.posted.filter((m) => m.type === 'assign')).toHaveLength(2);
      for (const [f, task] of [
        [1, 0],
        [1, 1],
        [2, 0],
      ])
        frames[f!]!.say({ type: 'ended', task, incarnation: 0, how: 'finished' });
      for (const run of due.splice(0)) run();
      await settle();
      expect(frames.map((f) => f.open)).toEqual([false, false, false, true]);
      frames[3]!.die('out of memory');
      expect(crashed).toHaveLength(1);
      await assign('third');
      expect(assigned()).toEqual([0, 1, 2, 4]);
      refuse = true;
      frames[4]!.die('gone');
      await settle();
      refuse = false;
      await assign('fourth');
      expect(assigned()).toEqual([0, 1, 2, 4, 5]);
      jobs.closeAll();
      await settle();
      expect(frames.filter((f) => f.open)).toEqual([]);
    },
  );
});

describe('status words', () => {
  it('say what a rank waits for, and count', () => {
    const memory = createRankMemory(4096, 4096);
    let clock = 0;
    const writer = new StatusWriter(
      new RankSide(memory).words,
      () => undefined,
      () => clock,
    );
    const words = new CommSide(memory, () => undefined).words;
    expect(readStatus(words)).toMatchObject({ started: false, activity: { state: 'loading' } });
    writer.started();
    writer.state(RankState.COMPUTING);
    clock = 30;
    writer.waiting('MPI_Recv', 3, 7);
    writer.sent(100);
    writer.received(1, 50);
    expect(readStatus(words)).toEqual({
      started: true,
      recovered: false,
      canImage: false,
      parked: false,
      activity: { state: 'waiting', call: 'MPI_Recv', peer: 3, tag: 7, arrivals: 1, sends: 1 },
      counters: { messagesIn: 1, messagesOut: 1, bytesIn: 50, bytesOut: 100 },
      spent: [30, 0, 0, 0, 0, 0],
    });
    clock = 100;
    writer.waiting('MPI_Barrier', undefined, undefined);
    expect(readStatus(words).activity).toEqual({ state: 'waiting', call: 'MPI_Barrier', arrivals: 1, sends: 1 });
    writer.state(RankState.COMPUTING);
    expect(readStatus(words).activity).toEqual({ state: 'computing', arrivals: 1, sends: 1 });
    expect(readStatus(words).spent).toEqual([30, 70, 0, 0, 0, 0]);
    // As of now, the state that still lasts included.
    expect(readStatus(words, 105).spent).toEqual([35, 70, 0, 0, 0, 0]);
    // From an image: what the incarnations before it have received and sent is in the rank's counts, not among what
    // this one did.
    writer.resume(2000, 1000);
    writer.received(2003, 8);
    expect(readStatus(words)).toMatchObject({
      activity: { arrivals: 2003, sends: 1000 },
      counters: { messagesIn: 3, messagesOut: 0 },
    });
  });

  it('tell a replay from what comes after it, also in the middle of what a rank computes', () => {
    let clock = 0;
    const { words } = new RankSide(createRankMemory(1 << 12, 1 << 12));
    const writer = new StatusWriter(words, undefined, () => clock);
    writer.state(RankState.REPLAYING);
    clock = 40;
    writer.recovered();
    clock = 45;
    writer.state(RankState.ENDED);
    expect([readStatus(words).recovered, readStatus(words).spent]).toEqual([true, [5, 0, 0, 0, 40, 0]]);
    writer.waiting('MPI_Recv', undefined, undefined);
    writer.recovered();
    expect(readStatus(words).activity.state).toBe('waiting');
  });

  it.each([
    [
      'V8',
      'Error\n    at RingDevice.next (/x/rank.cjs:1:2)\n    at a.out.halo ' +
        '(wasm://wasm/a.out-000320ce:wasm-function[21]:0x64b)\n    at a.out.main ' +
        '(wasm://wasm/a.out-0:wasm-function[23]:0x8fe)',
      'halo (wasm-function[21]:0x64b)',
    ],
    [
      'a wrapper of a profiling library',
      '    at a.out.MPI_Recv (wasm://wasm/a:wasm-function[2]:0x64b)\n    at a.out.Grid::exchange(int, int) ' +
        '(wasm://wasm/a:wasm-function[9]:0x8fe)',
      'Grid::exchange(int, int) (wasm-function[9]:0x8fe)',
    ],
    [
      'what the C library does for the program',
      '    at a.out.__stdio_read (wasm://wasm/a:wasm-function[2]:0x64b)\n    at a.out.fgets ' +
        '(wasm://wasm/a:wasm-function[3]:0x6)\n    at a.out.ask (wasm://wasm/a:wasm-function[9]:0x8fe)',
      'ask (wasm-function[9]:0x8fe)',
    ],
    ['a function without a name', '    at wasm://wasm/0123abcd:wasm-function[7]:0x1f', 'wasm-function[7]:0x1f'],
    [
      'a script',
      '    at _CommObject.recv (http://h/rank.js:3:4)\n    at Solver.step (mayfly-program.js:23:14)',
      'Solver.step (mayfly-program.js:23:14)',
    ],
    ['a script outside of functions', '    at mayfly-program.js:5:1', 'mayfly-program.js:5:1'],
    [
      'Firefox',
      'next@http://h/rank.js:1:2\nhalo@http://h/rank.js line 3 > WebAssembly.Module:wasm-function[21]:0x64b',
      'halo (wasm-function[21]:0x64b)',
    ],
    [
      'Firefox, a script',
      'recv@http://h/rank.js:1:2\nexchange@mayfly-program.js:13:20',
      'exchange (mayfly-program.js:13:20)',
    ],
    ['Firefox, outside of functions', '@mayfly-program.js:13:20', 'mayfly-program.js:13:20'],
    ['no frame of the program', 'Error\n    at next (rank.js:1:2)', undefined],
  ])('finds the place of a call in a stack: %s', (_, stack, place) => expect(placeOf(stack)).toBe(place));

  it('samples from where in the program it waits: once in twenty milliseconds of waiting, and while a wait goes on', () => {
    const { words } = new CommSide(createRankMemory(64 * 1024, 64 * 1024), () => undefined);
    let clock = 0;
    let looks = 0;
    const writer = new StatusWriter(words, undefined, () => clock);
    const wait = (call: string, ms: number, place: string | undefined): void => {
      writer.waiting(call, undefined, undefined);
      clock += ms;
      writer.state(RankState.COMPUTING);
      if (writer.placeDue) writer.waitsAt(() => (looks++, place));
      clock += 1000;
    };
    for (let i = 0; i < 12; i++) wait('MPI_Recv', 6, 'halo');
    expect([looks, readPlaceTimes(words)]).toEqual([3, [['MPI_Recv', 'halo', 72]]]);
    wait('MPI_Barrier', 500, undefined); // a stack that tells nothing
    expect(readPlaceTimes(words)).toEqual([['MPI_Recv', 'halo', 72]]);
    // It hangs: one look, whatever comes of it, and its place is there to see until the wait is over.
    writer.waiting('MPI_Barrier', undefined, undefined);
    expect(readStatus(words).activity.place).toBeUndefined();
    looks = 0;
    for (let i = 0; i < 3; i++) {
      clock += 500;
      writer.waitsAt(() => (looks++, 'main'));
    }
    expect([looks, readStatus(words).activity]).toEqual([
      1,
      expect.objectContaining({ call: 'MPI_Barrier', place: 'main' }),
    ]);
    clock += 20;
    writer.state(RankState.COMPUTING);
    if (writer.placeDue) writer.waitsAt(() => 'never asked');
    expect(readStatus(words).activity.place).toBeUndefined();
    expect(readPlaceTimes(words)).toEqual([
      ['MPI_Recv', 'halo', 72],
      ['MPI_Barrier', 'main', 1520],
    ]);
    // Of more places than there are entries the rest is one; long names are cut.
    for (let i = 0; i < 40; i++) wait('MPI_Wait', 20, `${'f'.repeat(200)}${i}`);
    for (let i = 0; i < 40; i++) wait('MPI_Wait', 20, `g${i}`);
    const places = readPlaceTimes(words);
    expect(places).toHaveLength(24);
    expect(places[23]).toEqual(['MPI_Wait', 'elsewhere', 20 * (80 - 21)]);
    expect(Math.max(...places.map(([, place]) => place.length))).toBe(PLACE_CHARS);
    expect(new Uint8Array(words.buffer, words.byteOffset + words.byteLength).every((b) => b === 0)).toBe(true);
  });

  it('divides the time that a rank waits by call; what has no entry of its own is other calls', () => {
    const { words } = new CommSide(createRankMemory(64 * 1024, 64 * 1024), () => undefined);
    let clock = 0;
    const writer = new StatusWriter(words, undefined, () => clock);
    expect(readCalls(words)).toEqual([]);
    const wait = (call: string, ms: number): void => {
      writer.waiting(call, undefined, undefined);
      clock += ms;
      writer.state(RankState.COMPUTING);
      clock += 1000;
    };
    wait('MPI_Recv', 5);
    wait('MPI_Allreduce', 30);
    wait('MPI_Recv', 7);
    writer.waiting('MPI_Recv', 1 as never, 2);
    expect(readCalls(words, clock + 4)).toEqual([
      ['MPI_Recv', 16, 3],
      ['MPI_Allreduce', 30, 1],
    ]);
    writer.state(RankState.COMPUTING);
    for (let i = 0; i < 30; i++) wait(`MPI_a_call_with_a_very_long_name_indeed_number_${i}`, i);
    wait('MPI_Recv', 1);
    const calls = readCalls(words);
    expect(calls).toHaveLength(16);
    expect([calls[0], calls[15]]).toEqual([
      ['MPI_Recv', 13, 4],
      ['other calls', 13 * 17 + (17 * 16) / 2, 17],
    ]);
    expect(calls.reduce((sum, [, ms]) => sum + ms, 0)).toBe(readStatus(words).spent[1]);
    // The rings lie behind.
    expect(new Uint8Array(words.buffer, words.byteOffset + words.byteLength).every((b) => b === 0)).toBe(true);
  });
});

describe('a share of a processor', () => {
  /** A rank that computes `work` ms between calls, on a clock of its own. */
  function rank(share: number) {
    const r = {
      now: 0,
      rested: 0,
      side: { share, pause: (ms: number) => ((r.now += ms), (r.rested += ms), undefined) },
    };
    const duty = new DutyCycle(r.side, { state: () => undefined }, () => r.now);
    const call = (work: number): void => {
      r.now += work;
      duty.call(() => RankState.COMPUTING);
    };
    return { r, duty, call };
  }

  it('rests at calls until the rest is in proportion to the work', () => {
    const { r, call } = rank(25);
    call(0);
    for (let i = 0; i < 1000; i++) call(3);
    // 3 s of work at a quarter of a processor: 9 s of rest, but for what is not yet worth a sleep.
    expect(r.rested).toBeGreaterThan(9000 - 40);
    expect(r.rested).toBeLessThanOrEqual(9000);
  });
  it('takes waiting for others as rest, and never sleeps for longer than half a second at once', () => {
    const { r, duty, call } = rank(50);
    call(0);
    for (let i = 0; i < 100; i++) {
      call(10);
      const from = r.now;
      r.now += 10;
      duty.rested(from);
    }
    expect(r.rested).toBe(0);
    call(60_000);
    expect(r.rested).toBe(500);
  });
  it('costs nothing when all of it is given, and begins anew when that changes', () => {
    const { r, call } = rank(100);
    for (let i = 0; i < 10; i++) call(1000);
    r.side.share = 50;
    call(1000);
    expect(r.rested).toBe(0);
    call(100);
    expect(r.rested).toBe(100);
  });
  it('reaches the rank through the rank memory', () => {
    const memory = createRankMemory(4096, 4096);
    const rankSide = new RankSide(memory);
    const comm = new CommSide(memory, () => undefined);
    expect(rankSide.share).toBe(100);
    comm.share = 40;
    expect(rankSide.share).toBe(40);
    comm.share = 100;
    expect(rankSide.share).toBe(100);
  });
});

describe('when a volunteer’s wishes forbid to work', () => {
  const c = { now: 100_000, visible: true, visibleSince: 0 };
  const wishes = { onlyCharging: true, onlyVisible: true, pausedUntil: undefined };

  it('says why, and when to look again', () => {
    expect(holdOf(wishes, c)).toBeUndefined();
    expect(holdOf({ ...wishes, pausedUntil: Infinity }, c)).toContain('by you');
    expect(holdOf({ ...wishes, pausedUntil: 99_999 }, c)).toBeUndefined();
    expect(nextLook({ ...wishes, pausedUntil: 160_000 }, c)).toBe(60_000);
    expect(nextLook({ ...wishes, pausedUntil: Infinity }, c)).toBeUndefined();
    const battery = { charging: false, level: 0.9 };
    expect(holdOf(wishes, { ...c, battery })).toContain('battery');
    expect(holdOf({ ...wishes, onlyCharging: false }, { ...c, battery })).toBeUndefined();
    expect([
      lowBattery({ battery }),
      lowBattery({ battery: { charging: false, level: 0.1 } }),
      lowBattery({ battery: { charging: true, level: 0.1 } }),
      lowBattery({}),
    ]).toEqual([false, true, false, false]);
  });
  it('waits until nobody uses the machine, where the browser says so', () => {
    expect(holdOf({ ...wishes, onlyIdle: true }, { ...c, away: false })).toContain('somebody is using');
    expect([
      holdOf({ ...wishes, onlyIdle: true }, { ...c, away: true }),
      holdOf({ ...wishes, onlyIdle: true }, c),
      holdOf(wishes, { ...c, away: false }),
    ]).toEqual([undefined, undefined, undefined]);
  });
  it('works at the hours that were chosen, past midnight too, and looks again every minute', () => {
    const at = (hour: number, minute = 0): number => new Date(2026, 5, 3, hour, minute, 20).getTime();
    const night = { ...wishes, hours: { from: 22 * 60, to: 7 * 60 } };
    const holds = (w: typeof night, ...times: number[]) => times.map((now) => holdOf(w, { ...c, now }) !== undefined);
    expect(holds(night, at(21, 59), at(22), at(0), at(6, 59), at(7), at(12))).toEqual([
      true,
      false,
      false,
      false,
      true,
      true,
    ]);
    expect(holds({ ...wishes, hours: { from: 9 * 60, to: 17 * 60 } }, at(8, 59), at(9), at(16, 59), at(17))).toEqual([
      true,
      false,
      false,
      true,
    ]);
    expect(holds({ ...wishes, hours: { from: 60, to: 60 } }, at(0), at(1), at(2))).toEqual([false, false, false]);
    expect(holdOf(night, { ...c, now: at(12) })).toBe('outside your chosen hours; resumes at 22:00');
    expect(nextLook(night, { ...c, now: at(12) })).toBe(40_000);
  });
  it('takes no glance at another tab for a departure', () => {
    const hidden = { ...c, visible: false, visibleSince: 99_000 };
    expect(holdOf(wishes, hidden)).toBeUndefined();
    expect(nextLook(wishes, hidden)).toBe(4000);
    expect(holdOf(wishes, { ...hidden, now: 104_000 })).toContain('hidden');
    expect(holdOf({ ...wishes, onlyVisible: false }, { ...hidden, now: 104_000 })).toBeUndefined();
  });
});

describe('a processor under pressure', () => {
  it('halves the share while it lasts, to a quarter, and doubles it slowly when it is calm', () => {
    let e = eased(AT_EASE, 'fair', 0);
    expect([e, nextEase(e, 0)]).toEqual([AT_EASE, undefined]);
    e = eased(e, 'serious', 1000);
    expect([e.factor, nextEase(e, 1000), easeWords(e)]).toEqual([1, PRESSED_MS, undefined]);
    // A moment of calm begins the wait anew.
    e = eased(eased(e, 'nominal', 5000), 'critical', 6000);
    expect(eased(e, undefined, 6000 + PRESSED_MS - 1).factor).toBe(1);
    e = eased(e, undefined, 6000 + PRESSED_MS);
    expect([e.factor, easeWords(e)]).toEqual([0.5, expect.stringContaining('half')]);
    e = eased(e, 'critical', 6000 + 2 * PRESSED_MS);
    expect([e.factor, nextEase(e, 0)]).toEqual([0.25, undefined]);
    e = eased(e, 'fair', 100_000);
    expect([e.factor, nextEase(e, 100_000)]).toEqual([0.25, CALM_MS]);
    e = eased(e, undefined, 100_000 + CALM_MS);
    expect(eased(e, undefined, 100_000 + 2 * CALM_MS)).toEqual({
      factor: 1,
      pressed: false,
      since: 100_000 + 2 * CALM_MS,
    });
  });
});

describe('the random source', () => {
  it('is a function of seed and task, and goes on from its state', () => {
    const a = new Random(12345, 0);
    const first = [a.draw(), a.draw(), a.draw()];
    expect(new Random(12345, 0).draw()).toBe(first[0]);
    expect(new Random(12345, 1).draw()).not.toBe(first[0]);
    expect(new Random(12346, 0).draw()).not.toBe(first[0]);
    const state = a.state();
    const rest = [a.draw(), a.bits()];
    const b = new Random(0, 0);
    b.restore(state);
    expect([b.draw(), b.bits()]).toEqual(rest);
  });

  it('is uniform enough: mean, extremes and bits of 100,000 draws', () => {
    const r = new Random(7, 3);
    let sum = 0;
    const ones = new Array<number>(32).fill(0);
    for (let i = 0; i < 100_000; i++) {
      const x = r.draw();
      expect(x >= 0 && x < 1).toBe(true);
      sum += x;
      const bits = r.bits();
      for (let k = 0; k < 32; k++) ones[k]! += (bits >>> k) & 1;
    }
    expect(Math.abs(sum / 100_000 - 0.5)).toBeLessThan(0.005);
    for (const n of ones) expect(Math.abs(n - 50_000)).toBeLessThan(1000);
  });
});

describe('Date', () => {
  // In a realm of its own: createDate changes the prototype.
  it('lives in UTC and en-US, whatever the machine is set to', async () => {
    const { runInNewContext } = await import('node:vm');
    const Engine = runInNewContext('Date') as DateConstructor;
    const D = createDate(Engine, () => 1_600_000_000_123);
    expect(D.now()).toBe(1_600_000_000_123);
    expect(new D().getTime()).toBe(1_600_000_000_123);
    expect(new D(2020, 0, 31, 12).toISOString()).toBe('2020-01-31T12:00:00.000Z');
    expect(new D('2020-01-31T12:00').toISOString()).toBe('2020-01-31T12:00:00.000Z');
    expect(new D('2020-01-31T12:00+02:00').toISOString()).toBe('2020-01-31T10:00:00.000Z');
    expect(new D('31 Jan 2020 12:00').toISOString()).toBe('2020-01-31T12:00:00.000Z');
    expect(new D('Fri, 31 Jan 2020 12:00:00 GMT').toISOString()).toBe('2020-01-31T12:00:00.000Z');
    const d = new D(0);
    expect([d.getHours(), d.getTimezoneOffset(), String(d), d.toLocaleString(), `${new D(NaN)}`]).toEqual([
      0,
      0,
      'Thu Jan 01 1970 00:00:00 GMT+0000 (Coordinated Universal Time)',
      '1/1/1970, 12:00:00 AM',
      'Invalid Date',
    ]);
    d.setHours(13);
    expect(d.toISOString()).toBe('1970-01-01T13:00:00.000Z');
    expect((D as unknown as () => string)()).toBe('Sun Sep 13 2020 12:26:40 GMT+0000 (Coordinated Universal Time)');
    class Mine extends D {}
    expect(new Mine(5).getTime()).toBe(5);
    expect(new Mine(5) instanceof D).toBe(true);
    expect(new D(new D(9)).getTime()).toBe(9);
  });
});
