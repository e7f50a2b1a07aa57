/** Stacks of a rank, in the places of the submitted files. */
import { SourceMap, type SourceMapPayload } from 'node:module';
import { BUNDLE_NAME } from './bundle-name.ts';
import { replacePlaces } from './replace-places.ts';

/**
 * Replaces every place in the bundle ('…mayfly-program.js:12:5') by the one in the program's file ('main.ts:3:1').
 * Works on stacks of
 * V8, SpiderMonkey and JavaScriptCore alike, since it looks at the places only.
 * @param sourceMap what the compiler gave with the bundle
 */
export const mapStack = (stack: string, sourceMap: string): string => stackMapper(sourceMap)(stack);

/** A program of half a megabyte has such a map. One that is longer would keep the server busy for its stacks. */
const MAX_MAP = 4 << 20;

/** The same for many stacks of one program. */
export function stackMapper(sourceMap: string): (stack: string) => string {
  if (sourceMap.length > MAX_MAP) return (stack) => stack;
  const map = new SourceMap(JSON.parse(sourceMap) as SourceMapPayload);
  const place = new RegExp(`${BUNDLE_NAME.replaceAll('.', '\\.')}:(\\d{1,9}):(\\d{1,9})`, 'g');
  return (stack) =>
    replacePlaces(stack, place, /[\s()@]/, (text, line, column) => {
      const entry = map.findEntry(Number(line) - 1, Number(column) - 1);
      return 'originalSource' in entry && entry.originalSource !== ''
        ? `${entry.originalSource}:${entry.originalLine + 1}:${entry.originalColumn + 1}`
        : text;
    });
}
