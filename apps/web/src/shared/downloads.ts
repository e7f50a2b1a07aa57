/** What downloads are called, and the cells of those that spreadsheets read: strangers name jobs, files and calls. */
import { oneLine } from '@mayfly/wire';

/** Of a download: no folder, nothing hidden, no text that runs backwards. */
export const downloadName = (name: string): string =>
  oneLine(name)
    .replace(/[/\\:*?"<>|]+/g, '_')
    .replace(/^[.\s]+/, '') || 'download';

/**
 * A cell of CSV (RFC 4180). A spreadsheet takes what begins like a formula for one, also between quotes; an apostrophe
 * before it makes it text.
 */
export function csvCell(text: string): string {
  const line = oneLine(text);
  const safe = /^\s*[=+\-@]/.test(line) ? `'${line}` : line;
  return /[",]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
