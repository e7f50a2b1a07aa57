/** An archive with a manifest, as the program that it holds. Stub until the readers of zip and tar stand. */
import { MayflyError, type ProgramSubmission } from '@mayfly/wire';

export async function unpackProgram(_archive: Uint8Array): Promise<Exclude<ProgramSubmission, { language: 'archive' }>> {
  throw new MayflyError('BAD_ARCHIVE', 'This server takes no archives.');
}
