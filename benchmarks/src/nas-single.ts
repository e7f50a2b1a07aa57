/**
 * A program on one rank, alone: WASI of Node, and MPI calls which do what they do for one rank, so that nothing but
 * compiled code is measured. The same for a plain module and a checkpointable one, whose functions are left and entered
 * anew at times, as a rank does it (packages/libmpi, life.ts). Arguments: module, the program's own. Its files are
 * those of the working directory. The program prints its time on standard error: processor time of this thread, where
 * the system tells it, so that other load is not counted.
 */
import { existsSync, readFileSync } from 'node:fs';
import { WASI } from 'node:wasi';

const [file, ...args] = process.argv.slice(2);
const module = new WebAssembly.Module(readFileSync(file!));
const wasi = new WASI({
  version: 'preview1',
  args: ['program', ...args],
  env: {},
  preopens: { '/': process.cwd() },
  returnOnExit: true,
});

const memory = (): WebAssembly.Memory => instance.exports['memory'] as WebAssembly.Memory;
const set = (at: number, value: number): void => new DataView(memory().buffer).setInt32(at, value, true);
const get = (at: number): number => new DataView(memory().buffer).getInt32(at, true);
/** Bytes of the datatypes that the kernels use, by their handles in the MPI ABI. */
const sizes = new Map([
  [0x209, 4],
  [0x214, 8],
  [0x250, 4],
  [0x258, 8],
]);
const copy = (to: number, from: number, count: number, type: number): void => {
  const size = sizes.get(type);
  if (size === undefined) throw new Error(`datatype 0x${type.toString(16)} is unknown here`);
  new Uint8Array(memory().buffer).copyWithin(to, from, from + count * size);
};

const SCHEDSTAT = '/proc/thread-self/schedstat';
const seconds = existsSync(SCHEDSTAT)
  ? (): number => Number(readFileSync(SCHEDSTAT, 'utf8').split(' ')[0]) / 1e9
  : (): number => performance.now() / 1000;

const calls: Record<string, (...a: number[]) => unknown> = {
  MPI_Init: () => 0,
  MPI_Finalize: () => 0,
  MPI_Barrier: () => 0,
  MPIX_Progress: () => 0,
  MPI_Bcast: () => 0,
  MPI_Exscan: () => 0,
  MPI_Comm_rank: (_comm, at) => (set(at!, 0), 0),
  MPI_Comm_size: (_comm, at) => (set(at!, 1), 0),
  MPI_Comm_split: (comm, _color, _key, at) => (set(at!, comm!), 0),
  MPI_Wtime: () => seconds(),
  MPI_Reduce: (from, to, count, type) => (copy(to!, from!, count!, type!), 0),
  MPI_Allreduce: (from, to, count, type) => (copy(to!, from!, count!, type!), 0),
  MPI_Allgather: (from, count, type, to) => (copy(to!, from!, count!, type!), 0),
  MPI_Alltoall: (from, count, type, to) => (copy(to!, from!, count!, type!), 0),
  MPI_Alltoallv: (from, counts, _displacements, type, to) => (copy(to!, from!, get(counts!), type!), 0),
};
// ── re-entries: the schedule is that of a rank (packages/node/src/rank/wasm.ts) ──
const REENTRIES_MS = [50, 150, 400, 1000, 3000, 10_000];
const section = WebAssembly.Module.customSections(module, 'mayfly')[0];
const room =
  section && (JSON.parse(new TextDecoder().decode(section)) as { unwind: { start: number; end: number } }).unwind;
const suspends = new Set([
  'MPI_Barrier',
  'MPI_Bcast',
  'MPI_Exscan',
  'MPI_Reduce',
  'MPI_Allreduce',
  'MPI_Allgather',
  'MPI_Alltoall',
  'MPI_Alltoallv',
]);
const asyncify = (name: string, at?: number): void =>
  (instance.exports[`asyncify_${name}`] as (at?: number) => void)(at);
const began = performance.now();
let state: 'runs' | 'unwinds' | 'rewinds' = 'runs';
let left = room ? REENTRIES_MS : [];

const entered =
  (f: (...a: number[]) => unknown) =>
  (...args: number[]): unknown => {
    const passed = performance.now() - began;
    if (state === 'rewinds') {
      asyncify('stop_rewind');
      state = 'runs';
    } else if (passed >= left[0]!) {
      left = left.filter((ms) => ms > passed);
      state = 'unwinds';
      set(room!.start, room!.start + 8);
      set(room!.start + 4, room!.end);
      asyncify('start_unwind', room!.start);
      return 0;
    }
    return f(...args);
  };
function start(): void {
  for (;;) {
    (instance.exports['_start'] as () => void)();
    if (state !== 'unwinds') return;
    asyncify('stop_unwind');
    state = 'rewinds';
    asyncify('start_rewind', room!.start);
  }
}

const imports: WebAssembly.Imports = {};
for (const { module: from, name } of WebAssembly.Module.imports(module)) {
  const own = (imports[from] ??=
    from === 'wasi_snapshot_preview1' ? { ...(wasi.wasiImport as Record<string, WebAssembly.ImportValue>) } : {});
  if (from === 'wasi_snapshot_preview1') continue;
  own[name] =
    name === 'grow'
      ? (pages: number): number => memory().grow(pages)
      : ((room && suspends.has(name) ? entered(calls[name]!) : calls[name]) ??
        ((): never => {
          throw new Error(`one rank alone does not call ${name}`);
        }));
}
const instance = new WebAssembly.Instance(module, imports);
process.exitCode = wasi.start({ exports: { ...instance.exports, _start: start } }) as unknown as number;
