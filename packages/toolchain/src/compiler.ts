/**
 * The compiler as its users see it: a fair queue in front of some warm compile processes.
 *
 * Owns: the processes, the queue. Does not own: what a program may be (resolve.ts, inspect.ts), whose turn it is
 * (fair-queue.ts), limits of one run (tool-process.ts). Invariants:
 *   C1  one request at a time is inside a process, and no more processes run than there may be;
 *   C2  every request is answered: by its result, COMPILE_LIMIT (time, processor time, memory), COMPILE_FAILED, or by
 *       CANCELLED when its asker left;
 *   C3  a process is started only when all others are busy: the one that served last, which is the warmest, serves
 *       next;
 *   C4  an idle process keeps nobody alive, and goes away by itself; the first one stays longest.
 */
import { availableParallelism, totalmem } from 'node:os';
import { MayflyError } from '@mayfly/wire';
import type { AnyRequest, AnyResult } from './compile-protocol.ts';
import { FairQueue } from './fair-queue.ts';
import { ToolProcess, type Outcome, type RunLimits } from './tool-process.ts';
import type {
  Asker,
  Compiler,
  CompileResult,
  CompilerOptions,
  ModuleResult,
  RefusedProgram,
  UnpackResult,
} from './compile-request.ts';

interface Job {
  readonly owner: string;
  readonly request: AnyRequest | undefined;
  readonly resolve: (result: AnyResult) => void;
  readonly reject: (error: Error) => void;
  readonly asker: Asker;
  process: ToolProcess | undefined;
  /** It lost its process to another owner. */
  interrupted: boolean;
}

/** A warm process of C++ has some 450 MB, one of TypeScript 220 MB. */
const WORKER_BYTES = 1.5 * 2 ** 30;
const MOST_WORKERS = 4;

/** Two where there is the memory for it, so that one program cannot hold up all; one per core up to four. */
export function defaultWorkers(): number {
  const memory = Math.min(totalmem(), process.constrainedMemory() || Infinity);
  return Math.max(1, Math.min(MOST_WORKERS, Math.max(2, availableParallelism()), Math.floor(memory / WORKER_BYTES)));
}

type Kind = 'script' | 'module' | 'archive' | 'start';
const kindOf = (request: AnyRequest | undefined): Kind =>
  request === undefined
    ? 'start'
    : !('language' in request)
      ? 'script'
      : request.language === 'archive'
        ? 'archive'
        : 'module';
/**
 * ms, by the clock (for what hangs) and of the processor. The start of a process is no program's: what a program may
 * take does not bound it.
 */
const LIMITS: Record<Kind, { timeMs: number; cpuMs: number }> = {
  script: { timeMs: 80_000, cpuMs: 20_000 },
  module: { timeMs: 240_000, cpuMs: 60_000 },
  archive: { timeMs: 40_000, cpuMs: 10_000 },
  start: { timeMs: 120_000, cpuMs: 120_000 },
};

export function createCompiler(options: CompilerOptions = {}): Compiler {
  const {
    memoryMb = 512,
    rssMb = 2048,
    maxSourceBytes = 8 << 20,
    maxFiles = 500,
    maxQueue = 256,
    maxPerOwner = 16,
    patienceMs = 2000,
    extraIdleMs = 60_000,
    idleMs = 600_000,
  } = options;
  const most = options.workers ?? defaultWorkers();
  const queue = new FairQueue<Job>({ perOwner: maxPerOwner, most: maxQueue });
  const idle = new Map<ToolProcess, NodeJS.Timeout>();
  const processes = new Set<ToolProcess>();
  let impatient: NodeJS.Timeout | undefined;
  let closed = false;

  const limitsOf = (request: AnyRequest | undefined): RunLimits => {
    const kind = kindOf(request);
    const own = kind === 'start' ? {} : options;
    const cpuMs = own.cpuLimitMs ?? LIMITS[kind].cpuMs;
    return { timeMs: own.timeLimitMs ?? Math.max(LIMITS[kind].timeMs, 4 * cpuMs), cpuMs, rssBytes: rssMb * 2 ** 20 };
  };

  const end = (p: ToolProcess): void => {
    clearTimeout(idle.get(p));
    idle.delete(p);
    processes.delete(p);
    p.kill();
  };

  /** C4 */
  const rest = (p: ToolProcess): void => {
    const first = setTimeout(() => {
      if (processes.size > 1) end(p);
      else idle.set(p, setTimeout(() => end(p), Math.max(0, idleMs - extraIdleMs)).unref());
    }, extraIdleMs);
    idle.set(p, first.unref());
  };

  /** C3 */
  const freeProcess = (): ToolProcess | undefined => {
    for (const p of [...idle.keys()].reverse()) {
      clearTimeout(idle.get(p));
      idle.delete(p);
      if (!p.gone) return p;
      processes.delete(p);
    }
    if (processes.size >= most) return undefined;
    const p = new ToolProcess({ memoryMb, serverPath: options.serverPath });
    processes.add(p);
    return p;
  };

  const pump = (): void => {
    while (!closed && queue.size > 0) {
      let process: ToolProcess | undefined;
      try {
        process = freeProcess();
      } catch (error) {
        const job = queue.take()!;
        queue.remove(job);
        job.reject(error as Error);
        continue;
      }
      if (process === undefined) break;
      void serve(queue.take()!, process);
    }
    clearTimeout(impatient);
    if (!closed && queue.usurper(most) !== undefined) impatient = setTimeout(interrupt, patienceMs).unref();
  };

  /** FairQueue F3. */
  const interrupt = (): void => {
    const job = queue.usurper(most);
    if (job?.process === undefined) return;
    job.interrupted = true;
    job.process.kill();
  };

  const serve = async (job: Job, process: ToolProcess): Promise<void> => {
    job.process = process;
    const limits = limitsOf(job.request);
    const outcome = await process.run(job.request, limits);
    job.process = undefined;
    if (process.gone) end(process);
    else if (!closed) rest(process);
    if (closed) return;
    if (job.interrupted && outcome.type === 'killed') {
      job.interrupted = false;
      queue.putBack(job);
    } else {
      queue.remove(job);
      settle(job, outcome, limits);
    }
    pump();
  };

  const settle = (job: Job, outcome: Outcome, limits: RunLimits): void => {
    if (outcome.type === 'result') return job.resolve(outcome.result!);
    if (outcome.type === 'killed')
      return job.reject(new MayflyError('CANCELLED', 'The submission was cancelled before this program was compiled.'));
    if (job.request === undefined || outcome.type === 'ended')
      return job.reject(
        new MayflyError(
          'INTERNAL',
          'The compile process ended: ' +
            `${outcome.type === 'limit' ? `limit of ${outcome.what}` : outcome.type === 'failed' ? outcome.message : outcome.why}`,
        ),
      );
    if (outcome.type === 'failed')
      return job.resolve(
        refusal(
          'COMPILE_FAILED',
          `The compiler failed on this program: ${outcome.message.split('\n')[0]!}`,
          job.request,
        ),
      );
    const doing = kindOf(job.request) === 'archive' ? 'Unpacking the archive' : 'Compiling the program';
    const why = {
      time: `${doing} took longer than ${limits.timeMs / 1000} s.`,
      cpu: `${doing} takes more than ${limits.cpuMs / 1000} s of processor time.`,
      memory:
        `${doing} takes more memory than there is for it (${rssMb} MB, of which ${memoryMb} MB are for the ` +
        'compiler’s own data).',
    };
    job.resolve(refusal('COMPILE_LIMIT', why[outcome.what], job.request));
  };

  const enqueue = (request: AnyRequest | undefined, asker: Asker = {}): Promise<AnyResult> =>
    new Promise((resolve, reject) => {
      const { signal } = asker;
      if (closed) return reject(new MayflyError('INTERNAL', 'The compiler is closed.'));
      const job: Job = {
        owner: asker.owner ?? '',
        request,
        asker,
        process: undefined,
        interrupted: false,
        resolve: (result) => {
          signal?.removeEventListener('abort', leave);
          resolve(result);
        },
        reject: (error) => {
          signal?.removeEventListener('abort', leave);
          reject(error);
        },
      };
      const leave = (): void => {
        // While it runs: what ends its process settles it.
        if (job.process !== undefined) {
          job.interrupted = false;
          return job.process.kill();
        }
        queue.remove(job);
        settle(job, { type: 'killed' }, limitsOf(request));
        pump();
      };
      if (signal?.aborted) return settle(job, { type: 'killed' }, limitsOf(request));
      const full = queue.add(job);
      if (full !== undefined)
        return reject(
          new MayflyError(
            'TOO_MANY',
            full.mine
              ? `${full.limit} of your programs are already waiting to be compiled. Submit this one when some ` +
                  'of them are done.'
              : `${full.limit} programs are already waiting to be compiled. Try again later.`,
          ),
        );
      signal?.addEventListener('abort', leave);
      pump();
      if (!queue.running.includes(job)) asker.waits?.(queue.size);
    });

  const tooLarge = (sources: Readonly<Record<string, string>>): RefusedProgram | undefined => {
    const texts = Object.values(sources);
    const bytes = texts.reduce((sum, t) => sum + Buffer.byteLength(t), 0);
    if (texts.length > maxFiles)
      return refusal('TOO_LARGE', `The program has ${texts.length} files; the limit is ${maxFiles}.`);
    if (bytes > maxSourceBytes)
      return refusal('TOO_LARGE', `The program's texts have ${bytes} bytes; ${maxSourceBytes} are allowed.`);
    return undefined;
  };

  return {
    async compile({ entry, sources }, asker) {
      return tooLarge(sources) ?? ((await enqueue({ entry, sources }, asker)) as CompileResult);
    },
    async compileModule(request, asker) {
      return (
        (request.language === 'wasm' ? undefined : tooLarge(request.sources)) ??
        ((await enqueue(request, asker)) as ModuleResult)
      );
    },
    async unpack(request, asker) {
      return (await enqueue(request, asker)) as UnpackResult;
    },
    async warm() {
      await enqueue(undefined);
    },
    load: () => ({ processes: processes.size, running: queue.running.length, waiting: queue.size }),
    close() {
      closed = true;
      clearTimeout(impatient);
      const all = queue.clear();
      for (const p of [...processes]) end(p);
      for (const job of all) job.reject(new MayflyError('INTERNAL', 'The compiler is closed.'));
      return Promise.resolve();
    },
  };
}

function refusal(code: RefusedProgram['code'], message: string, request?: AnyRequest): RefusedProgram {
  return {
    ok: false,
    code,
    message,
    diagnostics: [
      {
        file: request !== undefined && 'entry' in request ? request.entry : '',
        line: 1,
        column: 1,
        code,
        message,
        severity: 'error',
      },
    ],
  };
}
