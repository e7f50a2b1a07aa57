/**
 * Values as lines of text for the console: strings as they are, everything else much as Node shows it. Depends on the
 * values alone (no colours, no width of a terminal), so every engine and every incarnation prints the same.
 */
const MAX_DEPTH = 3;
const MAX_ITEMS = 100;
/** A longer object goes over several lines. */
const WIDTH = 76;

export const formatLine = (values: readonly unknown[]): string =>
  values.map((v) => (typeof v === 'string' ? v : shown(v))).join(' ');

/** A line is printed whatever the getters and traps of a value do. */
function shown(value: unknown): string {
  try {
    return show(value, 0, []);
  } catch {
    return typeof value === 'function' ? '[Function]' : '[an object that cannot be shown]';
  }
}

const textOf = (value: unknown, otherwise: string): string => (typeof value === 'string' ? value : otherwise);

const quote = (s: string): string => `'${s.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n')}'`;
const key = (k: string): string => (/^[A-Za-z_$][\w$]*$/.test(k) ? k : quote(k));

function show(v: unknown, depth: number, above: readonly object[]): string {
  switch (typeof v) {
    case 'string':
      return quote(v);
    case 'number':
      return Object.is(v, -0) ? '-0' : String(v);
    case 'bigint':
      return `${v}n`;
    case 'function':
      return `[Function: ${textOf(v.name, '') || 'anonymous'}]`;
    case 'object':
      return v === null ? 'null' : showObject(v, depth, above);
    default:
      return String(v);
  }
}

function showObject(o: object, depth: number, above: readonly object[]): string {
  if (above.includes(o)) return '[Circular]';
  if (o instanceof Error) return textOf(o.stack, `${textOf(o.name, 'Error')}: ${textOf(o.message, '')}`);
  const tag = Object.prototype.toString.call(o);
  if (tag === '[object Date]') {
    const date = o as { getTime(): number; toISOString(): string };
    return Number.isNaN(date.getTime()) ? 'Invalid Date' : date.toISOString();
  }
  if (tag === '[object RegExp]') return String(o);
  const name = textOf((Object.getPrototypeOf(o) as { constructor?: { name?: unknown } } | null)?.constructor?.name, '');
  if (depth > MAX_DEPTH) return Array.isArray(o) ? '[Array]' : `[${name || 'Object'}]`;
  const inner = [...above, o];
  const item = (x: unknown): string => show(x, depth + 1, inner);
  const list = (items: Iterable<unknown>, length: number, one: (x: unknown) => string): string[] => {
    const out: string[] = [];
    for (const x of items) {
      if (out.length === MAX_ITEMS) break;
      out.push(one(x));
    }
    if (length > out.length) out.push(`... ${length - out.length} more`);
    return out;
  };
  if (Array.isArray(o)) return braces('', '[', ']', list(o, o.length, item), depth);
  if (ArrayBuffer.isView(o) && !(o instanceof DataView)) {
    const a = o as unknown as { length: number } & Iterable<unknown>;
    return braces(`${name}(${a.length}) `, '[', ']', list(a, a.length, item), depth);
  }
  if (o instanceof Map)
    return braces(
      `Map(${o.size}) `,
      '{',
      '}',
      list(o, o.size, (e) => `${item((e as [unknown, unknown])[0])} => ${item((e as [unknown, unknown])[1])}`),
      depth,
    );
  if (o instanceof Set) return braces(`Set(${o.size}) `, '{', '}', list(o, o.size, item), depth);
  const entries = Object.entries(o);
  return braces(
    name && name !== 'Object' ? `${name} ` : '',
    '{',
    '}',
    list(entries, entries.length, (e) => `${key((e as [string, unknown])[0])}: ${item((e as [string, unknown])[1])}`),
    depth,
  );
}

function braces(prefix: string, open: string, close: string, items: readonly string[], depth: number): string {
  if (items.length === 0) return `${prefix}${open}${close}`;
  const line = `${prefix}${open} ${items.join(', ')} ${close}`;
  if (line.length <= WIDTH && !line.includes('\n')) return line;
  const pad = '  '.repeat(depth);
  return `${prefix}${open}\n${items.map((i) => `${pad}  ${i}`).join(',\n')}\n${pad}${close}`;
}
