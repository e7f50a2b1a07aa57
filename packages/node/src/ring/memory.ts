/**
 * The layout of a rank memory: its control words, and the way to wake the side that sleeps at one. index.ts defines
 * what the words mean to both sides.
 */

/** How often a sleeping side looks without being woken. */
export const SAFETY_MS = 500;

const MAGIC = 0x4d61_7966;
/** Int32 indexes; what different sides write stands on different cache lines. */
export const W = {
  magic: 0,
  upCapacity: 1,
  downCapacity: 2,
  /** 1: the comm side cannot wait on memory and is woken by a message. */
  wakeByMessage: 3,
  upHead: 16,
  upTail: 32,
  downHead: 48,
  downTail: 64,
  commBell: 80,
  commAsleep: 96,
  rankBell: 112,
  rankAsleep: 128,
  lostByRank: 144,
  /** Bits of {@link Ask}, set by the comm worker. */
  ask: 160,
  /**
   * 1: an image of the rank is on its way, and its memory buffer belongs to the comm worker; the next one has to wait.
   *  Set by the rank when it hands an image over, cleared by the comm worker.
   */
  imageUnderWay: 161,
  /** Percent of a processor that the volunteer gives; 0 is all of it. Set by the comm worker. */
  share: 162,
  /** Pages (64 KiB) of the program's linear memory, as of its last calls; 0: not known. Set by the rank. */
  memory: 163,
  /** Of a script: the call of checkpoint.here at which it takes its last image, 32 bits; 0: the next. */
  lastCall: 164,
  /** From one image to the next, ms, because they cost so much; 0: as the job asks. Set by the comm worker. */
  spacing: 165,
  status: 176,
  lingerBell: 240,
  /** Times by MPI call (status.ts). */
  calls: 256,
  /** Times by place of the program (status-places.ts); up to the end of the control words. */
  places: 528,
} as const;
export const STATUS_WORD = W.status;
export const CALLS_WORD = W.calls;
export const PLACES_WORD = W.places;
export const MEMORY_WORD = W.memory;
export const CONTROL_BYTES = 5120;
/** Bits of a sleeper's mask: what it waits for (I3, I5). */
export const DATA = 1;
export const SPACE = 2;
export const LINGER = 4;

/** What the comm worker asks of a rank between records. */
export const Ask = {
  /** Take an image soon. */
  CHECKPOINT: 1,
  /** After the next image do nothing more: the node leaves, and nothing done from then on would be kept. */
  LEAVE: 2,
  /** Mark the end of what it has sent, at its next MPI call. */
  MARK: 4,
} as const;

export const DEFAULT_RING_BYTES = 1024 * 1024;

/** Both capacities must be powers of two. A record may take at most a quarter of its ring. */
export function createRankMemory(upBytes = DEFAULT_RING_BYTES, downBytes = DEFAULT_RING_BYTES): SharedArrayBuffer {
  for (const n of [upBytes, downBytes]) if (n < 4096 || (n & (n - 1)) !== 0) throw new RangeError(`ring capacity ${n}`);
  const memory = new SharedArrayBuffer(CONTROL_BYTES + upBytes + downBytes);
  const words = new Int32Array(memory, 0, CONTROL_BYTES / 4);
  words[W.magic] = MAGIC;
  words[W.upCapacity] = upBytes;
  words[W.downCapacity] = downBytes;
  return memory;
}

export function open(memory: SharedArrayBuffer): { words: Int32Array; up: number; down: number } {
  const words = new Int32Array(memory, 0, CONTROL_BYTES / 4);
  if (words[W.magic] !== MAGIC) throw new Error('not a rank memory');
  return { words, up: words[W.upCapacity]!, down: words[W.downCapacity]! };
}

/** Where one side sleeps, and how the others wake it (I3). */
export class Doorbell {
  constructor(
    private readonly words: Int32Array,
    private readonly bell: number,
    private readonly asleep: number,
    /** Called instead of a notify where the side cannot wait on memory. */
    private readonly call?: () => void,
  ) {}

  /** The mask of the side: what it sleeps for; 0: it does not sleep. */
  get mask(): number {
    return Atomics.load(this.words, this.asleep);
  }

  set mask(mask: number) {
    Atomics.store(this.words, this.asleep, mask);
  }

  /** Changes whenever it rings. */
  get count(): number {
    return Atomics.load(this.words, this.bell);
  }

  /** Blocks until it rings, if it has not since `count` was read. */
  wait(count: number, ms: number): 'ok' | 'not-equal' | 'timed-out' {
    return Atomics.wait(this.words, this.bell, count, ms);
  }

  /** Takes the mask of the side, and rings for it. False: it does not sleep. */
  wake(): boolean {
    const mask = Atomics.exchange(this.words, this.asleep, 0);
    if (mask === 0) return false;
    if (mask === LINGER) {
      Atomics.add(this.words, W.lingerBell, 1);
      Atomics.notify(this.words, W.lingerBell);
    } else if (this.call) {
      Atomics.add(this.words, this.bell, 1);
      this.call();
    } else this.ring();
    return true;
  }

  /** Rings, whatever the side sleeps for. */
  ring(): void {
    Atomics.add(this.words, this.bell, 1);
    Atomics.notify(this.words, this.bell);
  }
}

/** The bell of the rank whose memory this is, unless it has teammates, who ring one of their own (team-memory.ts). */
export const bellOfRank = (words: Int32Array): Doorbell => new Doorbell(words, W.rankBell, W.rankAsleep);
