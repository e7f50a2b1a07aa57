/**
 * An archive to the program that it holds, inside the compile process: what comes out of an archive costs the server
 * nothing (archive.ts, project.ts).
 */
import { MayflyError } from '@mayfly/wire';
import { unpack } from './archive.ts';
import { programOfFiles } from './project.ts';
import type { ArchiveRequest, UnpackResult } from './compile-request.ts';

/** More than a compiler takes; the files of a program that is none (data, results) are not sent on at all. */
const MAX_SOURCE_BYTES = 32 << 20;

export async function unpackProgram(request: ArchiveRequest): Promise<UnpackResult> {
  try {
    const program = programOfFiles(await unpack(request.archive));
    if (program.language !== 'wasm') {
      const bytes = Object.values(program.sources).reduce((sum, text) => sum + Buffer.byteLength(text), 0);
      if (bytes > MAX_SOURCE_BYTES)
        throw new MayflyError('TOO_LARGE', `The program's texts have ${bytes} bytes; ${MAX_SOURCE_BYTES} are allowed.`);
    }
    return { ok: true, program };
  } catch (error) {
    if (error instanceof MayflyError && (error.code === 'BAD_ARCHIVE' || error.code === 'TOO_LARGE'))
      return { ok: false, code: error.code, message: error.message, diagnostics: [] };
    throw error;
  }
}
