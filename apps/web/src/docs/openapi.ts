/** What the page of the API reads of /openapi.json, and the lines that it makes of it. Pure. */

export interface Schema {
  $ref?: string;
  type?: string;
  const?: unknown;
  enum?: unknown[];
  format?: string;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  items?: Schema;
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  patternProperties?: Record<string, Schema>;
  required?: string[];
  description?: string;
}
interface Media {
  schema?: Schema;
  example?: unknown;
}
export interface Operation {
  operationId: string;
  summary: string;
  description: string;
  tags?: string[];
  security?: unknown[];
  parameters?: { name: string; in: string; required?: boolean; description?: string; schema?: Schema }[];
  requestBody?: { content: Record<string, Media> };
  responses: Record<string, { description?: string; content?: Record<string, Media> }>;
}
export interface Document {
  info: { title: string; version: string; description: string };
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

export interface Route extends Operation {
  method: string;
  path: string;
}

const ORDER = ['jobs', 'outputs', 'history', 'rooms', 'server', 'tokens', 'lesson'];

/** Routes by what they are about. */
export function groups(doc: Document, wanted: string): [tag: string, routes: Route[]][] {
  const w = wanted.trim().toLowerCase();
  const found = new Map<string, Route[]>();
  for (const [path, methods] of Object.entries(doc.paths))
    for (const [method, o] of Object.entries(methods)) {
      if (w !== '' && !`${method} ${path} ${o.summary} ${o.description}`.toLowerCase().includes(w)) continue;
      const tag = o.tags?.[0] ?? 'other';
      found.set(tag, [...(found.get(tag) ?? []), { ...o, method: method.toUpperCase(), path }]);
    }
  const place = (tag: string): number => (ORDER.includes(tag) ? ORDER.indexOf(tag) : ORDER.length);
  return [...found].toSorted(([a], [b]) => place(a) - place(b));
}

export const nameOfRef = (s: Schema | undefined): string | undefined => s?.$ref?.split('/').at(-1);

/** A schema in one line: `integer, 0 to 1024`, `array of JobView`, `"viewer" | "owner"`. */
export function inWords(s: Schema | undefined): string {
  if (!s) return 'anything';
  const name = nameOfRef(s);
  if (name !== undefined) return name;
  if (s.const !== undefined) return JSON.stringify(s.const);
  if (s.enum) return s.enum.map((v) => JSON.stringify(v)).join(' | ');
  if (s.anyOf) return s.anyOf.map(inWords).join(' | ');
  if (s.type === 'array') return `array of ${inWords(s.items)}`;
  if (s.type === 'object' && s.patternProperties)
    return `object of ${inWords(Object.values(s.patternProperties)[0])} by name`;
  if (s.type === 'integer' || s.type === 'number') {
    const { minimum: low, maximum: high } = s;
    const bounded = high !== undefined && high < Number.MAX_SAFE_INTEGER;
    if (low !== undefined) return `${s.type}, ${bounded ? `${low} to ${high}` : `at least ${low}`}`;
    return bounded ? `${s.type}, at most ${high}` : s.type;
  }
  if (s.type === 'string') {
    const most = s.maxLength === undefined ? '' : `, at most ${s.maxLength} characters`;
    return `${s.format === 'binary' ? 'raw bytes' : 'string'}${most}`;
  }
  return s.type ?? 'anything';
}

const VALUES: Record<string, string> = {
  id: 'k3v9x0q2m7ab',
  task: '0',
  code: 'QX7PKM',
  name: 'pi',
  path: 'out/pi.txt',
};

/** The request as a command; `$TOKEN` is the reader's. */
export function curl(r: Route, origin: string): string {
  const id = r.path.includes('/tokens/') ? 'a1b2c3d4e5' : VALUES['id']!;
  const path = r.path.replaceAll(/\{(\w+)\}/g, (_, n: string) => (n === 'id' ? id : (VALUES[n] ?? n)));
  const [type, media] = Object.entries(r.requestBody?.content ?? {})[0] ?? [];
  return [
    `curl${r.method === 'GET' ? '' : ` -X ${r.method}`} ${origin}${path}`,
    ...(r.security ? [`  -H "Authorization: Bearer $TOKEN"`] : []),
    ...(type === undefined
      ? []
      : [
          `  -H "Content-Type: ${type}"`,
          type === 'application/json'
            ? `  -d '${JSON.stringify(media?.example ?? {}).replaceAll("'", "'\\''")}'`
            : '  --data-binary @input.txt',
        ]),
  ].join(' \\\n');
}
