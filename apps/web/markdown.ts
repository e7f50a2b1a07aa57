/**
 * Markdown at build time: `virtual:documents` has each served document as a chunk of its own, `virtual:documents-index`
 * their sections as text for the search. Nothing of it is left to be done in the browser.
 *
 * Links between documents become links between pages of the site, and a link to a document without a page ends the
 * build. Figures (docs/figures) become files of the site. Other targets of the repository become plain text, since the
 * site does not have them. Headings have the anchors that GitHub gives them. What may be wider than a phone scrolls by
 * itself and can be reached by key.
 */
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Marked, type Tokens } from 'marked';
import type { Plugin } from 'vite';
import type { DocumentText } from './src/docs/documents.ts';
import type { Section } from './src/docs/search.ts';

const escaped = (text: string): string =>
  text.replace(/[&<>"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c]!);
const plain = (html: string): string =>
  html
    .replace(/<[^>]*>/g, '')
    .replace(/&amp;/g, '&')
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&quot;/g, '"')
    .replace(/&#39;/g, "'");

const FIGURE = /^figures\/([a-z0-9-]+\.svg)$/;
/** Stands for the address of a figure, which the build knows later. */
const addressOf = (figure: string): string => `{figure:${figure}}`;

/** @param served names of the documents that have a page, without .md */
export function render(markdown: string, served: ReadonlySet<string>): DocumentText {
  const used = new Map<string, number>();
  const sections: { id: string; text: string }[] = [];
  let title = '';
  const anchor = (text: string): string => {
    const slug = text
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replace(/\s/g, '-');
    const n = used.get(slug) ?? 0;
    used.set(slug, n + 1);
    return n === 0 ? slug : `${slug}-${n}`;
  };
  const marked = new Marked({
    gfm: true,
    renderer: {
      heading({ tokens, depth }: Tokens.Heading): string {
        const inner = this.parser.parseInline(tokens);
        const text = plain(inner);
        const id = anchor(text);
        if (depth === 1 && title === '') title = text;
        if (depth === 2) sections.push({ id, text });
        return `<h${depth} id="${escaped(id)}">${inner}</h${depth}>\n`;
      },
      link({ href, tokens }: Tokens.Link): string {
        const inner = this.parser.parseInline(tokens);
        if (/^(https?:)?\/\//.test(href)) return `<a href="${escaped(href)}" rel="noreferrer">${inner}</a>`;
        if (href.startsWith('#')) return `<a href="${escaped(href)}">${inner}</a>`;
        const figure = FIGURE.exec(href)?.[1];
        if (figure !== undefined) return `<a href="${addressOf(figure)}" target="_blank">${inner}</a>`;
        const [, name, hash = ''] = /^([a-z-]+)\.md(#.*)?$/.exec(href) ?? [];
        if (name === undefined) return inner;
        if (!served.has(name))
          throw new Error(`A document links to ${href}, which has no page (src/docs/documents.ts).`);
        return `<a href="/docs/${name}${escaped(hash)}">${inner}</a>`;
      },
      image({ href, text }: Tokens.Image): string {
        const figure = FIGURE.exec(href)?.[1];
        if (figure === undefined) return escaped(text);
        return `<img src="${addressOf(figure)}" alt="${escaped(text)}" loading="lazy">`;
      },
      code({ text, lang }: Tokens.Code): string {
        return (
          '<pre class="block" tabindex="0" role="region" ' +
          `aria-label="${lang ? escaped(lang) : 'Example'}"><code>${escaped(text)}</code></pre>\n`
        );
      },
      table(token: Tokens.Table): string {
        const opened = (tag: 'td' | 'th'): string => (tag === 'th' ? 'th scope="col"' : 'td');
        const cells = (row: Tokens.TableCell[], tag: 'td' | 'th'): string =>
          `<tr>${row.map((c) => `<${opened(tag)}>${this.parser.parseInline(c.tokens)}</${tag}>`).join('')}</tr>`;
        const body = token.rows.map((r) => cells(r, 'td')).join('');
        const name = sections.at(-1)?.text ?? title;
        return (
          '<div class="wide" tabindex="0" role="region" aria-label="Table: ' +
          `${escaped(name)}"><table><thead>${cells(token.header, 'th')}</thead><tbody>${body}</tbody></table></div>\n`
        );
      },
    },
  });
  const html = marked.parse(markdown, { async: false });
  return { title, html, sections };
}

/** The page as a module, which imports its figures. */
function moduleOf(page: DocumentText, folder: string): string {
  const figures = [...new Set([...page.html.matchAll(/\{figure:([a-z0-9-]+\.svg)\}/g)].map((m) => m[1]!))];
  const imports = figures.map(
    (f, i) => `import figure${i} from ${JSON.stringify(`${join(folder, 'figures', f)}?url&no-inline`)};`,
  );
  const html = figures.reduce(
    (text, f, i) => text.replaceAll(addressOf(f), `" + figure${i} + "`),
    JSON.stringify(page.html),
  );
  return (
    `${imports.join('')}export const title = ${JSON.stringify(page.title)}; export const sections = ` +
    `${JSON.stringify(page.sections)}; export const html = ${html};`
  );
}

/** What the search reads: the text of a page by heading. */
export function sectionsOf(doc: string, html: string): Section[] {
  return html.split(/(?=<h[1-6] id=")/).flatMap((part) => {
    const [all, id, heading] = /^<h[1-6] id="([^"]*)">(.*?)<\/h[1-6]>/s.exec(part) ?? [];
    if (all === undefined) return [];
    // Cells and lines stand beside each other.
    const text = plain(part.slice(all.length).replace(/<\/(?:td|th|tr|p|li|pre)>/g, ' '));
    return [{ doc, id: plain(id!), heading: plain(heading!), text: text.replace(/\s+/g, ' ').trim() }];
  });
}

const LIST = 'virtual:documents';
const INDEX = 'virtual:documents-index';

/** @param folder where <name>.md lies */
export function markdown(folder: string, served: readonly string[]): Plugin {
  const names = new Set(served);
  const pageOf = (name: string): DocumentText => render(readFileSync(join(folder, `${name}.md`), 'utf8'), names);
  return {
    name: 'markdown',
    enforce: 'pre',
    resolveId: (id) => (id === LIST || id === INDEX ? `\0${id}` : undefined),
    load(id) {
      if (id === `\0${LIST}`) {
        const entries = served.map(
          (n) => `${JSON.stringify(n)}: () => import(${JSON.stringify(join(folder, `${n}.md`))})`,
        );
        return `export const documents = {${entries.join(', ')}};`;
      }
      if (id === `\0${INDEX}`) {
        for (const n of served) this.addWatchFile(join(folder, `${n}.md`));
        return `export const index = ${JSON.stringify(served.flatMap((n) => sectionsOf(n, pageOf(n).html)))};`;
      }
      if (!id.endsWith('.md')) return undefined;
      this.addWatchFile(id);
      return moduleOf(pageOf(basename(id, '.md')), folder);
    },
  };
}
