/**
 * clang's messages of a run that checked and compiled at once (once.ts), without what the user's own options would not
 * have shown.
 */
import { hasFormatAttributes } from './formats.ts';

const MESSAGE = /^(?:.+:\d+:\d+: |\S+: )?(warning|error|fatal error|remark): .*?(?: \[-W([\w,-]+)\])?$/;
const INCLUDED = /^(?:In file included| {17,}from) /;
const SUMMARY = /^\d+ warnings? generated\.$/;
const FIX = /^fix-it:"/;
/** Only the check asks for these. */
const OF_THE_CHECK = /^(cast-align|type-safety)/;
/** Also about attributes that the check has put there. */
const ABOUT_ATTRIBUTES = 'gcc-compat';

interface Message {
  readonly group: string | undefined;
  /** Where the file of the message is included. */
  readonly places: readonly string[];
  readonly lines: string[];
}

/** @returns undefined when only a run with the user's options can tell */
export function shown(stderr: string): string | undefined {
  const messages: Message[] = [];
  let places: string[] = [];
  for (const line of stderr.split('\n')) {
    const message = MESSAGE.exec(line);
    if (INCLUDED.test(line)) places.push(line);
    else if (message !== null) {
      messages.push({ group: message[2], places, lines: [line] });
      places = [];
    } else if (!FIX.test(line) && !SUMMARY.test(line) && line !== '') {
      // Of a note, whose place may be in another file.
      const last = messages.at(-1);
      if (last === undefined) return undefined;
      last.lines.push(...places, line);
      places = [];
    }
  }
  const kept: Message[] = [];
  /** clang names the includes of a file once: after a message that is left out, they would be missing. */
  let doubtful = false;
  for (const m of messages) {
    const ours =
      m.group !== undefined &&
      (OF_THE_CHECK.test(m.group) || (m.group === ABOUT_ATTRIBUTES && hasFormatAttributes(m.lines.join('\n'))));
    if (ours) doubtful ||= m.places.length > 0;
    else if (doubtful) return undefined;
    else kept.push(m);
  }
  if (kept.length === 0) return '';
  const text = kept.flatMap((m) => [...m.places, ...m.lines]).join('\n');
  // A place in a precompiled header, or a line that has an attribute.
  if (text.includes('/.mayfly/') || hasFormatAttributes(text)) return undefined;
  return `${text}\n${kept.length} warning${kept.length === 1 ? '' : 's'} generated.\n`;
}
