/**
 * The custom section `mayfly` that the toolchain's instrumentation leaves in a module: what the host has to know of it.
 */

export interface ModuleSection {
  /** Where the Asyncify stack lies in the linear memory: [start, end). */
  readonly unwind: { readonly start: number; readonly end: number };
  /** The C stack, which grows downwards, where the module says where it lies: [low, high). */
  readonly stack?: { readonly low: number; readonly high: number } | undefined;
  /**
   * Imports at which the module can be unwound ('env.MPI_Recv', 'wasi_snapshot_preview1.fd_read'); absent: all that the
   * host would suspend.
   */
  readonly suspending?: readonly string[] | undefined;
  /** What the module imports from `env`: its MPI functions. */
  readonly functions: ReadonlySet<string>;
  /** Pages (64 KiB) of the memory's maximum. */
  readonly maximum: number;
}

/** A module that this host cannot run; the message says why. */
export class UnfitModule extends Error {
  override readonly name = 'UnfitModule';
}

export const GLOBAL_PREFIX = 'mayfly.global.';

/** @throws UnfitModule */
export function readSection(module: WebAssembly.Module): ModuleSection {
  const bytes = WebAssembly.Module.customSections(module, 'mayfly')[0];
  if (!bytes)
    throw new UnfitModule(
      'the module has not been made checkpointable (it has no section "mayfly"): build it with mayfly mpicc, ' +
        'or submit it through the server',
    );
  let s: Record<string, unknown>;
  try {
    s = JSON.parse(new TextDecoder().decode(bytes)) as Record<string, unknown>;
  } catch {
    throw new UnfitModule('the section "mayfly" of the module cannot be read');
  }
  const unwind = s['unwind'] as { start?: unknown; end?: unknown } | undefined;
  const { start, end } = unwind ?? {};
  const maximum = (s['memory'] as { maximum?: unknown } | undefined)?.maximum;
  if (typeof start !== 'number' || typeof end !== 'number' || !(start > 0 && end >= start + 16))
    throw new UnfitModule('the module does not say where its stack is unwound to');
  const exports = new Map(WebAssembly.Module.exports(module).map((e) => [e.name, e.kind]));
  for (const name of [
    'asyncify_start_unwind',
    'asyncify_stop_unwind',
    'asyncify_start_rewind',
    'asyncify_stop_rewind',
    '_start',
  ])
    if (exports.get(name) !== 'function') throw new UnfitModule(`the module does not export the function ${name}`);
  if (exports.get('memory') !== 'memory') throw new UnfitModule('the module does not export its memory');
  const stack = s['stack'] as { low?: unknown; high?: unknown } | undefined;
  const [low, high] = [stack?.low, stack?.high];
  const lies =
    typeof low === 'number' && typeof high === 'number' && low >= 0 && low < high && (high <= start || low >= end);
  const functions = new Set(WebAssembly.Module.imports(module).flatMap((i) => (i.module === 'env' ? [i.name] : [])));
  return {
    functions,
    unwind: { start, end },
    stack: lies ? { low, high } : undefined,
    suspending: Array.isArray(s['suspending']) ? (s['suspending'] as string[]) : undefined,
    maximum: typeof maximum === 'number' ? maximum : 65536,
  };
}
