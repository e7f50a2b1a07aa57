/** Which language of CodeMirror colours a file. */
import { cpp } from '@codemirror/lang-cpp';
import { javascript } from '@codemirror/lang-javascript';
import type { LanguageSupport } from '@codemirror/language';

/** @returns undefined: plain text */
export function coloursOf(path: string): LanguageSupport | undefined {
  if (/\.[cm]?[jt]sx?$|\.json$/.test(path)) return javascript({ typescript: true });
  return /\.(c|cc|cpp|cxx|c\+\+|h|hh|hpp|hxx|h\+\+|inc|inl|ipp|tpp|tcc)$/i.test(path) ? cpp() : undefined;
}
