/** What the program host is given: the surroundings of a rank, the program, and where to go on from. */
import type { Device, RestoredImage } from '@mayfly/mpi';
import type { ExitReport } from '@mayfly/wire';
import type { CycleOptions } from './cycle.ts';
import type { InputFile } from './files.ts';
import type { ProcessImage } from './image.ts';
import type { Binding, BindingOptions } from '../program.ts';

export interface ProcessHost {
  readonly device: Device;
  /** argv, the program's name first. */
  readonly args: readonly string[];
  /** Environment variables of the job, beside those that every rank has. */
  readonly env?: Readonly<Record<string, string>>;
  readonly inputs: readonly InputFile[];
  readInput(path: string): Uint8Array;
  processorName(): string;
  readonly random: { fill(into: Uint8Array): void };
  /** Of the job; beyond it memory.grow fails, visibly and always. */
  readonly memoryBytes: number;
  readonly fileBytes: number;
  readonly version: string;
  /**
   * An image is due. Asked at every call that may suspend; `waiting`: in the middle of one, where perhaps nothing has
   * happened since the last image.
   */
  imageDue(waiting: boolean): boolean;
  /**
   * Time to leave the program's functions and enter them anew. Asked at the entry of every call that may suspend, when
   * no image is due. Engines run new functions as quickly made code, make better code of hot ones meanwhile, and never
   * change a function that is running: a program that loops in `main` would stay with the first.
   */
  reentryDue?(): boolean;
  /**
   * Takes the image; the parts hold only during the call. Whatever else belongs to it (positions, chance) is read here
   * too.
   */
  saveImage(image: ProcessImage): void;
  /** The program goes on behind an image, in the call where it was taken. */
  resumed?(): void;
  /** Sleeps; ms that are left when an image is due, else 0. */
  sleep(ms: number): number;
  /** The exit has been given to the device. */
  end(report: ExitReport): never;
}

export interface ProcessOptions {
  module: WebAssembly.Module;
  host: ProcessHost;
  createBinding(options: BindingOptions): Binding;
  /** Sections of the image to go on from. */
  restored?: RestoredImage | undefined;
  /**
   * For tests: an image and its restore in a fresh instance (fresh layer, binding and files too) at every n-th
   * suspending call, and inside its first wait (cycle.ts). The device has to ask {@link Waits.interrupted}.
   */
  cycle?: CycleOptions | undefined;
  /** Is given the question that the device asks before it blocks in a wait. */
  onWaits?: ((waits: Waits) => void) | undefined;
}

export interface Waits {
  /** The device is about to block in a wait that may be interrupted: true when an image is to be taken instead. */
  interrupted(): boolean;
}
