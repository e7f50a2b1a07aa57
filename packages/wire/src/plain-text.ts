/**
 * Text that others wrote (nodes, programs, submitters, servers), before it is shown in a terminal, logged, or used in a
 * name. Two things must not pass: characters that command a terminal (escape sequences begin with one), and characters
 * that nobody sees, some of which change the direction of the text around them. Pure.
 */

/** Controls, ends of lines and paragraphs, and halves of a character. */
const COMMANDS = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]+/gu;
/** The same, but for tab and newline. */
const COMMANDS_IN_LINES = /[^\P{Cc}\n\t]+|[\p{Zl}\p{Zp}\p{Cs}]+/gu;
/** Direction of text, zero width, tags. */
const INVISIBLE = /\p{Cf}+/gu;

/** For a value within a line: a blank in place of each run of controls. */
export const oneLine = (text: string): string => text.replace(INVISIBLE, '').replace(COMMANDS, ' ');

/** What a node, job or room is called; `otherwise` where nothing is left that can be seen. */
export const plainName = (name: string, otherwise: string): string => oneLine(name).trim() || otherwise;

/** For text of several lines: they and its tabs stay. */
export const plainText = (text: string): string =>
  text.replace(INVISIBLE, '').replaceAll('\r\n', '\n').replace(COMMANDS_IN_LINES, ' ');

/** JSON of the same value in which these characters are escaped. They stand within its strings alone. */
export const plainJson = (json: string): string =>
  json.replace(/[\x7f-\x9f\p{Cf}\p{Zl}\p{Zp}]/gu, (c) =>
    c
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );
