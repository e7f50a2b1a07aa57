/** The status words of a rank: what its comm worker reads there, and what the words make of stacks and times. */
import { describe, expect, it } from 'vitest';
import { PLACE_CHARS } from '@mayfly/wire';
import { placeOf } from '../src/rank/call-site.ts';
import { CommSide, createRankMemory, RankSide } from '../src/ring/index.ts';
import { RankState, readCalls, readPlaceTimes, readStatus, StatusWriter } from '../src/status.ts';

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

  it('have the progress that a program states, and none where it states nothing', () => {
    const { words } = new RankSide(createRankMemory(1 << 12, 1 << 12));
    const writer = new StatusWriter(words);
    expect(readStatus(words).activity).not.toHaveProperty('progress');
    for (const fraction of [0, 0.25, 1]) {
      writer.progress(fraction);
      expect(readStatus(words).activity.progress).toBe(fraction);
    }
    // A rank's memory is its program's: no number outside the range reaches the server.
    for (const odd of [NaN, -0.5, 1.01, Infinity]) {
      writer.progress(odd);
      expect(readStatus(words).activity).not.toHaveProperty('progress');
    }
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
