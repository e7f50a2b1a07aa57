/**
 * Reads what clang prints with `-ast-dump`: a tree, one node a line, with places in the text where the tokens were
 * written, so in the definition of a macro for its own. A place names only what differs from the one before it.
 */

export interface Place {
  /** As clang writes it. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

export interface Node {
  readonly depth: number;
  readonly kind: string;
  /** First and last token; undefined when the node has no place. */
  readonly from: Place | undefined;
  readonly to: Place | undefined;
  /** What stands behind the places: type, operator, kind of cast. */
  readonly rest: string;
}

const PLACE = '<invalid sloc>|(?:line:\\d+|col|<[^<>]*>:\\d+|[^<>:][^<>]*?:\\d+):\\d+';
const NODE = new RegExp(
  `^([ |\`-]*)([A-Za-z]\\w*)(?: [a-z_]+)*(?: 0x[\\da-f]+)?(?: (?:parent|prev) 0x[\\da-f]+)*` +
    ` <(${PLACE})(?:, (${PLACE}))?>(?: (${PLACE})(?= |$))?(.*)$`,
);
const OTHER = /^([ |`-]*)(\S*)/;

/** All nodes, in the order of the dump: parents before children. */
export function* nodesOf(dump: string): Generator<Node> {
  let last: Place = { file: '', line: 0, column: 0 };
  const place = (text: string | undefined): Place | undefined => {
    if (text === undefined || text === '<invalid sloc>') return undefined;
    const [, head, column] = /^(.*):(\d+)$/.exec(text)!;
    const [, file, line] = head === 'col' ? [] : /^(.*):(\d+)$/.exec(head!)!;
    last = {
      file: file === undefined || file === 'line' ? last.file : file,
      line: line === undefined ? last.line : Number(line),
      column: Number(column),
    };
    return last;
  };
  for (let at = 0; at < dump.length;) {
    const end = dump.indexOf('\n', at);
    const text = dump.slice(at, end === -1 ? dump.length : end);
    at = end === -1 ? dump.length : end + 1;
    const m = NODE.exec(text);
    if (m === null) {
      const [, indent, kind] = OTHER.exec(text)!;
      yield { depth: indent!.length, kind: kind!, from: undefined, to: undefined, rest: '' };
      continue;
    }
    const from = place(m[3]);
    const to = m[4] === undefined ? from : place(m[4]);
    place(m[5]);
    yield { depth: m[1]!.length, kind: m[2]!, from, to, rest: m[6]! };
  }
}

/** The canonical type of an expression, without `const`. */
export function typeOf(node: Pick<Node, 'rest'>): string | undefined {
  const m = /^ '([^']*)'(?::'([^']*)')?/.exec(node.rest);
  return m === null ? undefined : (m[2] ?? m[1]!).replace(/^(?:const |volatile )+/, '');
}
