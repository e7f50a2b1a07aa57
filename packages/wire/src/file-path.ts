/** Names of files of a program. Beside the schemas (job.ts), so that a command that only checks a name loads none. */

export const FILE_PATH = '^(?!.*(?:^|/)\\.)[A-Za-z0-9_][A-Za-z0-9_.@+-]*(?:/[A-Za-z0-9_][A-Za-z0-9_.@+-]*)*$';
export const FILE_PATH_CHARS = 200;
const PATTERN = new RegExp(FILE_PATH);

/** Path of a submitted or written file: relative, no `..`, no empty or hidden segments. */
export const isFilePath = (path: string): boolean => path.length <= FILE_PATH_CHARS && PATTERN.test(path);
