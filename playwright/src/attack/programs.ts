/**
 * The hostile programs: one file each in programs/, whose first lines say what it tries, which hole it stood for, and
 * how its job may end. Scripts (.js) find what they need to leave a trace in programs/canaries.js; .c is compiled by
 * the server, .wat by Binaryen, .hex is a module byte by byte.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Program } from '../client.ts';
import { ROOT } from '../server.ts';

const FOLDER = join(ROOT, 'playwright', 'src', 'attack', 'programs');
const CANARIES = 'canaries.js';

export interface Attack {
  name: string;
  kind: 'script' | 'wasm';
  tries: string;
  hole: string;
  /**
   * 'done', 'failed CODE', 'refused CODE' (at its submission), 'cancelled' (by the harness, once it runs), 'crashed'
   * (cancelled once a rank was lost).
   */
  ends: string[];
  program(): Promise<Program>;
}

const field = (text: string, name: string): string | undefined =>
  new RegExp(`^(?://|;;) ${name}: (.+)$`, 'm').exec(text)?.[1];

function read(file: string): Attack {
  const text = readFileSync(join(FOLDER, file), 'utf8');
  const [, name, suffix] = /^([\w-]+)\.(\w+)$/.exec(file) as unknown as [string, string, string];
  const [tries, hole, ends] = ['Tries', 'Stood for', 'Ends'].map((key) => field(text, key));
  if (tries === undefined || hole === undefined || ends === undefined)
    throw new Error(`${file} has to begin with what it tries, what it stood for, and how it ends`);
  return {
    name,
    kind: suffix === 'js' ? 'script' : 'wasm',
    tries,
    hole,
    ends: ends.split(', '),
    program: () => programOf(name, suffix, text),
  };
}

export const attacks = (): Attack[] =>
  readdirSync(FOLDER)
    .filter((file) => file !== CANARIES)
    .sort()
    .map(read);

async function programOf(name: string, suffix: string, text: string): Promise<Program> {
  switch (suffix) {
    case 'js':
      return {
        name,
        program: {
          language: 'typescript',
          entry: 'main.js',
          sources: { 'main.js': text, [CANARIES]: readFileSync(join(FOLDER, CANARIES), 'utf8') },
        },
      };
    case 'c':
      return { name, program: { language: 'c', sources: { 'main.c': text } } };
    case 'wat':
      return moduleOf(name, withSection(await assembled(text), field(text, 'Section')));
    case 'hex':
      return moduleOf(
        name,
        Uint8Array.from(
          text
            .replace(/^;;.*$/gm, '')
            .trim()
            .split(/\s+/),
          (byte) => parseInt(byte, 16),
        ),
      );
    default:
      throw new Error(`${name}.${suffix} is not a known kind of program`);
  }
}

const moduleOf = (name: string, bytes: Uint8Array): Program => ({
  name,
  program: { language: 'wasm', module: Buffer.from(bytes).toString('base64') },
});

async function assembled(text: string): Promise<Uint8Array> {
  const { default: binaryen } = await import('binaryen');
  const module = binaryen.parseText(text);
  try {
    return module.emitBinary();
  } finally {
    module.dispose();
  }
}

/** @param section 'name contents', added as a custom section */
function withSection(module: Uint8Array, section: string | undefined): Uint8Array {
  if (section === undefined) return module;
  const [name, ...rest] = section.split(' ');
  const body = Buffer.concat([Buffer.from([name!.length]), Buffer.from(name!), Buffer.from(rest.join(' '))]);
  if (body.length > 127) throw new Error('a longer section needs a longer length');
  return Buffer.concat([module, Buffer.from([0, body.length]), body]);
}
