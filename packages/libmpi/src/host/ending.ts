/**
 * How a program ends: what it throws through its stack to end, and the report that is made of whatever came out of
 * `_start`.
 */
import type { ExitReport } from '@mayfly/wire';

export const MESSAGE_LIMIT = 16_000;
const STACK_LIMIT = 64_000;

/** The engine has no more memory, or the host cannot go on: this incarnation dies, the job does not end. */
export class IncarnationDies extends Error {
  override readonly name = 'IncarnationDies';
}

/** Thrown through the program's stack. */
export class Ended extends Error {
  constructor(readonly report: ExitReport) {
    super('the program ended');
  }
}

export const failed = (
  d: { message: string; stack?: string },
  code: 'PROGRAM_ERROR' | 'PROGRAM_TRAP' = 'PROGRAM_ERROR',
): ExitReport => ({
  code: 1,
  abort: {
    code,
    message: d.message.slice(0, MESSAGE_LIMIT),
    ...(d.stack === undefined ? {} : { stack: d.stack.slice(0, STACK_LIMIT) }),
  },
});

/** What a C++ throw or a longjmp is to the host. */
export function isException(e: unknown): boolean {
  const { Exception } = WebAssembly as unknown as { Exception?: new () => object };
  return Exception !== undefined && e instanceof Exception;
}

/** Errors that are not the program's: the replay's, the device's. */
export function isHosts(e: unknown): boolean {
  return (
    e instanceof Error &&
    !(e instanceof WebAssembly.RuntimeError) &&
    (e.name === 'ReplayDiverged' || e.name === 'MayflyError' || e.name === 'Interrupted')
  );
}
