/**
 * With `-mno-long64`, a `long` or `size_t` has 32 bits and MPI_LONG_LONG has 64: a receive would write 8 bytes into 4.
 * clang checks a program that names such a datatype once more, with an mpi.h that ties buffers to datatypes.
 */
import type { DriverRun } from '../run.ts';
import { NOT_FOR_A_CHECK } from './formats.ts';
import { narrowTaggedHeaders } from './mpi-tags.ts';

const NAMES = /\bMPI_(?:U?INT64_T|(?:UNSIGNED_)?LONG_LONG(?:_INT)?)\b/;
const FOUND =
  /^(.+?:\d+:\d+): warning: (.* '(?:const |volatile )*(?:unsigned )?long (?:\*|\(\*\)).*) \[-Wtype-safety\]$/gm;

export const namesWideDatatypes = (bytes: Uint8Array): boolean =>
  NAMES.test(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1'));

/** Errors as clang writes them. */
export function wideDatatypes(run: DriverRun, clang: string, flags: readonly string[], source: string): string {
  const { stderr } = run.llvmOver(
    { base: run.options.files, stdin: run.options.stdin, headers: narrowTaggedHeaders() },
    clang,
    ...flags.filter((f) => !NOT_FOR_A_CHECK.test(f)),
    ...['-fsyntax-only', '-Wno-everything', '-Wtype-safety', '-fno-color-diagnostics', '-ferror-limit=0', source],
  );
  return [...new TextDecoder().decode(stderr).matchAll(FOUND)]
    .map(
      ([, place, message]) =>
        `${place!}: error: ${message!}; with -mno-long64, long and size_t have 32 bits: name MPI_LONG or ` +
        `MPI_UNSIGNED_LONG, or compile the whole program without it [-mno-long64]\n`,
    )
    .join('');
}
