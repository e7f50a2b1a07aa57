/** How long the arguments of a program may be together; the schema limits each (wire/job.ts). */
import { MAX_ARGUMENTS_BYTES, MayflyError, type FurtherPart } from '@mayfly/wire';

/** @throws MayflyError TOO_LARGE */
export function needArguments(parts: readonly Pick<FurtherPart, 'args'>[]): void {
  for (const { args = [] } of parts) {
    // Each ends with a byte 0, as in the memory of the program.
    const bytes = args.reduce((n, a) => n + Buffer.byteLength(a) + 1, 0);
    if (bytes > MAX_ARGUMENTS_BYTES)
      throw new MayflyError(
        'TOO_LARGE',
        `The arguments of a program have ${bytes} bytes together; a job takes ${MAX_ARGUMENTS_BYTES}. ` +
          'Put long lists into an input file (--file), and pass its name.',
      );
  }
}
