/**
 * The test mode of checkpoint cycles: every life of a program is cut off at an image, from which another life goes on,
 * with a layer, a binding and files of its own.
 *
 * Owns: the bytes of the image between two lives, and the instance in which the next one begins. That is a new one at
 * every `fresh`-th image. Between them it is the instance that was just left, after **everything that an image has to
 * bring back was spoilt**: linear memory and mutable globals. So what an image lacks is missed as in a new instance (a
 * new one is spoilt less: it begins with zeros), while none of the engine's memories has to be made, which costs far
 * more than image and restore together.
 */
import type { RestoredImage } from '@mayfly/mpi';
import { between, type ProcessImage, type Range } from './image.ts';
import { Instance, type ImportOf } from './instance.ts';
import type { ModuleSection } from './section.ts';

export interface CycleOptions {
  /** An image at every n-th suspending call, and in the first wait of each. */
  every: number;
  /** A new instance at every n-th image: 1 unless said otherwise. */
  fresh?: number | undefined;
}

const NONSENSE = 0xa5;
/** Of a part of the memory that no image has, so much is spoilt at each of its ends: nearest to what is alive. */
const EDGE = 65536;

export class Cycles {
  readonly every: number;
  /** Parts of the memory that the last image left out. The next instance has nonsense there. */
  dead: readonly Range[] = [];
  private readonly fresh: number;
  private images = 0;
  private instance: Instance | undefined;
  /** The functions behind the imports of the instance, by their order: those of the life that is in it. */
  private targets: ((...args: unknown[]) => unknown)[] = [];
  private names: [module: string, name: string][] = [];
  private readonly buffers = new Map<string, Uint8Array>();

  constructor(
    o: CycleOptions,
    private readonly module: WebAssembly.Module,
    private readonly section: ModuleSection,
  ) {
    this.every = o.every;
    this.fresh = o.fresh ?? 1;
  }

  /** For the next life. */
  enter(importOf: ImportOf): Instance {
    const target = (module: string, name: string): ((...args: unknown[]) => unknown) =>
      importOf(module, name) as (...args: unknown[]) => unknown;
    if (this.instance && this.images % this.fresh !== 0) {
      this.targets = this.names.map(([module, name]) => target(module, name));
      this.spoil(this.instance);
      return this.instance;
    }
    this.names = [];
    this.targets = [];
    this.dead = [];
    this.instance = new Instance(this.module, this.section, (module, name) => {
      const i = this.names.push([module, name]) - 1;
      this.targets[i] = target(module, name);
      return (...args: unknown[]) => this.targets[i]!(...args);
    });
    return this.instance;
  }

  private spoil(instance: Instance): void {
    const memory = instance.memory();
    for (const [from, to] of between(memory.length, this.dead))
      memory.fill(NONSENSE, Math.max(0, from - EDGE), to + EDGE);
    instance.spoilGlobals();
  }

  /** The image in memory of its own, with nonsense where nothing matters. It holds until the next one. */
  keep(image: ProcessImage): RestoredImage {
    this.images++;
    this.dead = image.sections.find((s) => s.name === 'memory')?.dead ?? [];
    return Object.fromEntries(image.sections.map((s) => [s.name, this.copy(s)]));
  }

  private copy({ name, parts, dead = [] }: ProcessImage['sections'][number]): Uint8Array {
    const bytes = parts.reduce((n, p) => n + p.length, 0);
    let buffer = this.buffers.get(name);
    if (!buffer || buffer.length < bytes) {
      buffer = new Uint8Array(bytes).fill(NONSENSE);
      this.buffers.set(name, buffer);
    }
    const out = buffer.subarray(0, bytes);
    let begins = 0;
    for (const p of parts) {
      for (const [from, to] of between(bytes, dead)) {
        const [first, last] = [Math.max(from, begins), Math.min(to, begins + p.length)];
        if (first < last) out.set(p.subarray(first - begins, last - begins), first);
      }
      begins += p.length;
    }
    for (const [from, to] of dead) {
      out.fill(NONSENSE, from, Math.min(to, from + EDGE));
      out.fill(NONSENSE, Math.max(from, to - EDGE), to);
    }
    return out;
  }
}
