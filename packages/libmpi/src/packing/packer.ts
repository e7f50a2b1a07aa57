/**
 * Packing at the speed of a loop that a compiler has made for the datatype: kernel.c over the rank's own linear memory.
 * What it cannot do (a memory without room, an engine without SIMD, offsets beyond 31 bits) is JavaScript's
 * (packages/mpi/src/packing.ts), byte for byte the same.
 *
 * Owns: an instance of the kernel, and the *room*: the part of the program's memory in which its stack is unwound for
 * an image. The program does not use it, no image holds what is left there, and an MPI call does not unwind while it
 * packs: so it is free for lists of blocks and for bytes on their way to or from memory outside of the program's.
 *
 * Invariants
 *  K1 Only the room, and places of the datatype, are written. Nothing outside of the memory is touched: the kernel
 *  traps there, so places are looked at before.
 *  K2 A list stays in the room until another one is put there, or the stack is unwound ({@link Packer.forget}).
 *  K3 The order in which blocks are moved is free: places of a receive do not overlap (MPI 4.1 §5.1.11), and packing
 *  reads them only.
 */
import { kernel as code } from '#packing';
import { span, type Layout, type Packer } from '@mayfly/mpi';
import { WORDS, pieces, planOf, type Plan } from './plan.ts';

interface Kernel {
  strided(from: number, fromStep: number, to: number, toStep: number, bytes: number, count: number): void;
  gather(list: number, count: number, base: number, to: number, bytes: number): void;
  scatter(list: number, count: number, base: number, from: number, bytes: number): void;
  gather_segments(list: number, count: number, base: number, to: number): void;
  scatter_segments(list: number, count: number, base: number, from: number): void;
}

/** So few blocks an element: one loop over the elements for each of them. */
const FEW_BLOCKS = 16;
/** Of places, for which the source stays in the processor's cache from one of these loops to the next. */
const CACHED = 1 << 15;
/** Bytes on their way; the rest of the room is for lists. */
const STAGE = 1 << 17;
const LEAST_ROOM = 1 << 11;

let compiled: WebAssembly.Module | 'none' | undefined;

function compile(): WebAssembly.Module | undefined {
  if (compiled === undefined)
    try {
      compiled = new WebAssembly.Module(Uint8Array.from(atob(code), (c) => c.charCodeAt(0)));
    } catch {
      compiled = 'none';
    }
  return compiled === 'none' ? undefined : compiled;
}

export class KernelPacker implements Packer {
  private kernel: Kernel | undefined;
  private bytes = new Uint8Array(0);
  private loaded: Int32Array | undefined;
  private readonly lists: number;
  private readonly listBytes: number;
  private readonly stage: number;
  private readonly stageBytes: number;

  /**
   * Undefined where the kernel does not run. @param memory the program's; asked for anew, since the instance is made
   * later
   */
  static make(memory: () => WebAssembly.Memory, room: { start: number; end: number }): KernelPacker | undefined {
    return room.end - room.start >= LEAST_ROOM && compile() ? new KernelPacker(memory, room) : undefined;
  }

  private constructor(
    private readonly memory: () => WebAssembly.Memory,
    room: { start: number; end: number },
  ) {
    this.lists = (room.start + 15) & ~15;
    const all = room.end - this.lists;
    this.stageBytes = Math.min(STAGE, (all >> 1) & ~15);
    this.stage = (room.end - this.stageBytes) & ~15;
    this.listBytes = this.stage - this.lists;
  }

  forget(): void {
    this.loaded = undefined;
  }

  pack(l: Layout, count: number, address: number, into: Uint8Array): boolean {
    return this.move(l, count, address, into, true);
  }
  unpack(l: Layout, count: number, from: Uint8Array, address: number): boolean {
    return this.move(l, count, address, from, false);
  }

  packed(l: Layout, count: number, address: number): Uint8Array | undefined {
    const bytes = l.size * count;
    const plan = bytes <= this.stageBytes && bytes > 0 ? this.ready(l, count, address) : undefined;
    if (!plan) return undefined;
    this.elements(plan, count, l.extent, address, this.stage, true);
    return this.bytes.subarray(this.stage, this.stage + bytes);
  }

  /** The plan, when all places are in the memory. */
  private ready(l: Layout, count: number, address: number): Plan | undefined {
    // A memory that grows detaches its buffer.
    if (this.bytes.length === 0) this.bytes = new Uint8Array(this.memory().buffer);
    const { from, to } = span(l, count);
    if (address + from < 0 || address + to > this.bytes.length) return undefined;
    this.kernel ??= new WebAssembly.Instance(compile()!, { env: { memory: this.memory() } })
      .exports as unknown as Kernel;
    return planOf(l);
  }

  private move(l: Layout, count: number, address: number, packed: Uint8Array, out: boolean): boolean {
    if (count === 0 || l.size === 0) return true;
    const plan = packed.length >= l.size * count ? this.ready(l, count, address) : undefined;
    if (!plan) return false;
    if (packed.buffer === this.bytes.buffer) this.elements(plan, count, l.extent, address, packed.byteOffset, out);
    else this.staged(plan, count, l.extent, address, packed, out);
    return true;
  }

  /** By way of the stage: `packed` is elsewhere. */
  private staged(plan: Plan, count: number, extent: number, address: number, packed: Uint8Array, out: boolean): void {
    const through = (p: Plan, n: number, place: number, at: number): void => {
      const size = p.size * n;
      if (!out) this.bytes.set(packed.subarray(at, at + size), this.stage);
      this.elements(p, n, extent, place, this.stage, out);
      if (out) packed.set(this.bytes.subarray(this.stage, this.stage + size), at);
    };
    const each = Math.floor(this.stageBytes / plan.size);
    if (each > 0) {
      for (let i = 0; i < count; i += each)
        through(plan, Math.min(each, count - i), address + i * extent, i * plan.size);
      return;
    }
    const cut = pieces(plan, this.stageBytes, this.listBytes >> 4);
    for (let i = 0, at = 0; i < count; i++)
      for (const p of cut) {
        // A piece that is one block has no need of the stage.
        if (p.blocks === 1) {
          const place = address + i * extent + p.segments[0]!;
          if (out) packed.set(this.bytes.subarray(place, place + p.size), at);
          else this.bytes.set(packed.subarray(at, at + p.size), place);
        } else through(p, 1, address + i * extent, at);
        at += p.size;
      }
  }

  /** `count` elements, `extent` apart, packed at an address. */
  private elements(plan: Plan, count: number, extent: number, place: number, at: number, out: boolean): void {
    const { of, segments: s, size } = plan;
    if (of) {
      const { head, plan: inner, repeats, step, tail } = of;
      // Elements that follow each other as what they are made of does are more of it.
      if (!head && !tail && extent === repeats * step)
        return this.elements(inner, count * repeats, step, place, at, out);
      for (let i = 0; i < count; i++, place += extent) {
        if (head) this.elements(head, 1, 0, place, at, out);
        at += head?.size ?? 0;
        this.elements(inner, repeats, step, place, at, out);
        at += repeats * inner.size;
        if (tail) this.elements(tail, 1, 0, place, at, out);
        at += tail?.size ?? 0;
      }
    } else if (plan.blocks === 1) this.blocks(place + s[0]!, extent, at, size, size, count, out);
    else if (count > plan.blocks && plan.blocks <= FEW_BLOCKS) {
      const most = Math.max(64, Math.floor(CACHED / Math.max(Math.abs(extent), 1)));
      for (let i = 0; i < count; i += most)
        this.across(plan, Math.min(most, count - i), extent, place + i * extent, at + i * size, out);
    } else if (s.length === WORDS)
      for (let i = 0; i < count; i++)
        this.blocks(place + i * extent + s[0]!, s[3]!, at + i * size, s[1]!, s[1]!, s[2]!, out);
    else this.listed(plan, count, extent, place, at, out);
  }

  /** Block by block, each over all elements. */
  private across(
    { segments: s, size }: Plan,
    count: number,
    extent: number,
    place: number,
    at: number,
    out: boolean,
  ): void {
    for (let k = 0, done = 0; k < s.length; k += WORDS)
      for (let i = 0; i < s[k + 2]!; i++, done += s[k + 1]!)
        this.blocks(place + s[k]! + i * s[k + 3]!, extent, at + done, size, s[k + 1]!, count, out);
  }

  private blocks(
    place: number,
    step: number,
    at: number,
    packedStep: number,
    bytes: number,
    count: number,
    out: boolean,
  ): void {
    if (out) this.kernel!.strided(place, step, at, packedStep, bytes, count);
    else this.kernel!.strided(at, packedStep, place, step, bytes, count);
  }

  /** By a list in the room, which may have to be put there in parts. */
  private listed(
    { list, segments, size }: Plan,
    count: number,
    extent: number,
    place: number,
    at: number,
    out: boolean,
  ): void {
    const words = list ? list.at : segments;
    const most = list ? this.listBytes >> 2 : (this.listBytes >> 4) * WORDS;
    const k = this.kernel!;
    for (let from = 0, done = 0; from < words.length; from += most) {
      const part = words.length <= most ? words : words.subarray(from, from + most);
      if (this.loaded !== part) {
        this.bytes.set(new Uint8Array(part.buffer, part.byteOffset, part.byteLength), this.lists);
        this.loaded = part;
      }
      for (let i = 0; i < count; i++) {
        const base = place + i * extent;
        const to = at + i * size + done;
        if (list) (out ? k.gather : k.scatter)(this.lists, part.length, base, to, list.bytes);
        else (out ? k.gather_segments : k.scatter_segments)(this.lists, part.length / WORDS, base, to);
      }
      if (list) done += part.length * list.bytes;
      else for (let i = 0; i < part.length; i += WORDS) done += part[i + 1]! * part[i + 2]!;
    }
  }
}
