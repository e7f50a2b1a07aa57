/**
 * Names on a room's board: checked by the page and again at the server's border. No schemas here, so that a page need
 * not load them.
 */

export const BOARD_NAME_CHARS = 24;

/**
 * A name or a team as the board shows it: letters, digits, blanks and . _ ' - , 1 to 24 of them, beginning with a
 * letter or a digit; no control characters, nothing that turns the direction of text. undefined: it is none.
 */
export function boardText(typed: string): string | undefined {
  const text = typed.normalize('NFC').trim().replace(/\s+/g, ' ');
  return text.length <= BOARD_NAME_CHARS && /^[\p{L}\p{N}][\p{L}\p{M}\p{N} ._'-]*$/u.test(text) ? text : undefined;
}

/** Same name and team, same sum; large and small letters are the same. */
export const boardKey = (who: { name: string; team?: string | undefined }): string =>
  `${who.name.toLowerCase()}|${who.team?.toLowerCase() ?? ''}`;
