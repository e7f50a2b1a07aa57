/**
 * docs/typescript-reference.md, made of types/mayfly.d.ts: its sections ("// ───── Name ─────"), and below each what is
 * declared there, in its order, with its comment. Members of an interface or of an object stand as a list; smaller
 * headings come from line comments between members. Names in a {@link …} become links.
 */
import ts from 'typescript';

interface Doc {
  text: string;
  tags: { name: string; text: string }[];
}

export function reference(source: string): string {
  const file = ts.createSourceFile('mayfly.d.ts', source, ts.ScriptTarget.Latest, true);
  const printer = ts.createPrinter({ removeComments: true });
  const anchors = declaredNames(file);

  const link = (text: string): string =>
    text.replace(/\{@link ([\w.]+)\}/g, (_, name: string) =>
      anchors.has(name.split('.')[0]!) ? `[\`${name}\`](#${name.split('.')[0]!.toLowerCase()})` : `\`${name}\``,
    );
  /** Of a comment as it stands in the source, since the compiler's own reading of it drops what stands in brackets. */
  const docOf = (node: ts.Node): Doc => {
    const range = (ts.getLeadingCommentRanges(source, node.pos) ?? [])
      .filter((r) => source.startsWith('/**', r.pos))
      .at(-1);
    if (!range) return { text: '', tags: [] };
    const lines = source
      .slice(range.pos + 3, range.end - 2)
      .split('\n')
      .map((l) => l.replace(/^\s*\* ?/, '').trimEnd());
    const [text = '', ...tags] = lines
      .join('\n')
      .trim()
      .split(/(?:^|\s)(?=@(?:param|throws)\b)/);
    return {
      text: link(text.trim()),
      tags: tags.map((t) => ({ name: /^@(\w+)/.exec(t)![1]!, text: link(t.replace(/^@\w+\s*/, '').trim()) })),
    };
  };
  const code = (node: ts.Node): string =>
    printer
      .printNode(ts.EmitHint.Unspecified, node, file)
      .replace(/^export (declare )?/, '')
      .replace(/^declare /, '')
      .replace(/;$/, '')
      .replace(/\s*\n\s*/g, ' ');
  const flat = (text: string): string => text.replace(/\n\s*\n/g, ' ').replace(/\s*\n\s*/g, ' ');
  /** What a `@param` is of is named in the text: as code. */
  const tagText = (t: Doc['tags'][number]): string =>
    t.name === 'param' ? t.text.replace(/^(\w+)\s*/, '`$1`: ') : `Throws ${t.text}`;
  const sentence = (d: Doc): string =>
    [flat(d.text), ...d.tags.map((t) => flat(tagText(t)))]
      .filter((x) => x !== '')
      .map((x, i, all) => (i < all.length - 1 && !/[.:;)\]]$/.test(x) ? `${x}.` : x))
      .join(' ');
  const item = (node: ts.Node, before = ''): string => {
    const text = sentence(docOf(node));
    return `* \`${before}${code(node)}\`${text ? `<br>${text}` : ''}\n`;
  };
  const members = (list: readonly ts.Node[], before = ''): string => {
    let out = '';
    for (const m of list) {
      const heading = (ts.getLeadingCommentRanges(source, m.pos) ?? [])
        .map((r) => source.slice(r.pos, r.end))
        .filter((c) => c.startsWith('// '))
        .map((c) => c.slice(3));
      if (heading.length > 0) out += `\n**${heading.join(' ')}**\n\n`;
      out += item(m, before);
    }
    return out;
  };
  /** A comment's paragraphs, with indented lines as code. */
  const prose = (d: Doc): string => {
    const body = d.text
      .split(/\n\s*\n/)
      .map((p) => (/^ {2}/.test(p) ? `\`\`\`ts\n${p.replace(/^ {2}/gm, '')}\n\`\`\`` : flat(p)))
      .join('\n\n');
    return [body, ...d.tags.map(tagText)].filter((x) => x !== '').join('\n\n');
  };

  const out: string[] = [
    '# The module `mayfly`\n',
    'Generated from [`mayfly.d.ts`](../packages/mpi/types/mayfly.d.ts) (`npx vitest run ' +
      'packages/mpi/test/reference -u`); how programs are written is [a page of its own](programs.md).\n',
  ];
  const intro = /^\/\*\*([^]*?)\*\//m
    .exec(source.slice(source.indexOf('\n/**') + 1))![1]!
    .split('\n')
    .map((l) => l.replace(/^\s*\* ?/, '').trimEnd())
    .join('\n')
    .trim();
  out.push(`${prose({ text: link(intro), tags: [] })}\n`);

  const seen = new Set<string>();
  let constants: string[] = [];
  let headed = false;
  const flush = (): void => {
    // Behind an interface they are not its members.
    if (constants.length > 0) out.push(...(headed ? ['**Constants, types and functions**\n'] : []), constants.join(''));
    constants = [];
  };
  for (const node of file.statements) {
    for (const r of ts.getLeadingCommentRanges(source, node.pos) ?? []) {
      const section = /^\/\/ ─+ (.*?) ─+$/.exec(source.slice(r.pos, r.end));
      if (section) {
        flush();
        out.push(`## ${section[1]}\n`);
        headed = false;
      }
    }
    const object = ts.isVariableStatement(node) ? node.declarationList.declarations[0]! : undefined;
    const literal = object?.type && ts.isTypeLiteralNode(object.type) ? object.type : undefined;
    const name = object ? object.name.getText(file) : (node as unknown as { name?: ts.Identifier }).name?.text;
    if (ts.isInterfaceDeclaration(node) || ts.isClassDeclaration(node) || literal) {
      flush();
      const doc = prose(docOf(node));
      // What makes objects of an interface has its name, and stands with it.
      if (!seen.has(name!)) out.push(`### ${name}\n`);
      seen.add(name!);
      headed = true;
      const heritage =
        ts.isInterfaceDeclaration(node) || ts.isClassDeclaration(node)
          ? (node.heritageClauses ?? []).flatMap((h) => h.types.map((t) => t.getText(file)))
          : [];
      if (doc) out.push(`${doc}\n`);
      for (const h of heritage)
        out.push(anchors.has(h) ? `All of [\`${h}\`](#${h.toLowerCase()}), and:\n` : `An \`${h}\` with:\n`);
      out.push(
        members(
          literal ? literal.members : (node as ts.InterfaceDeclaration).members,
          literal ? `${name}.` : '',
        ).replace(/^\n/, ''),
      );
    } else if (name !== undefined) constants.push(item(node));
  }
  flush();
  return `${out
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trimEnd()}\n`;
}

/** Interfaces, classes and objects: what has a heading. */
function declaredNames(file: ts.SourceFile): Set<string> {
  const names = new Set<string>();
  for (const s of file.statements) {
    if (ts.isInterfaceDeclaration(s) || (ts.isClassDeclaration(s) && s.name)) names.add(s.name!.text);
    if (ts.isVariableStatement(s) && s.declarationList.declarations[0]!.type?.kind === ts.SyntaxKind.TypeLiteral)
      names.add(s.declarationList.declarations[0]!.name.getText(file));
  }
  return names;
}
