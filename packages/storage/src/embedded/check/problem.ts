/** What a check of a data directory finds, in sentences. */
export interface Problem {
  /** Within the data directory. */
  file: string;
  /** Continues the sentence behind the name: 'is damaged: …'. */
  what: string;
  /** Nothing is lost by it: another copy exists, or the next start or use mends it. */
  harmless?: boolean;
}

export interface CheckProgress {
  /** Called for each file that was read. */
  (file: string, bytes: number): void;
}

export function unreadable(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'EISDIR') return 'is a folder where a file belongs';
  if (code === 'ENOTDIR') return 'is a file where a folder belongs';
  if (code === 'ENOENT') return 'is missing';
  if (code === 'EACCES' || code === 'EPERM') return 'cannot be read: this user has no permission';
  return `cannot be read: ${message}`;
}
