import fc from 'fast-check';
import { Compile } from 'typebox/compile';
import { describe, expect, test } from 'vitest';
import {
  Assignment,
  Attach,
  ERRORS,
  FilePath,
  Hello,
  JobSubmission,
  MalformedDeterminants,
  MayflyError,
  ResultPath,
  decodeAck,
  decodeDeterminants,
  encodeAck,
  encodeDeterminants,
  type Determinant,
} from '../src/index.ts';

const u32 = fc.integer({ min: 0, max: 0xffff_ffff });
const u53 = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
const determinant: fc.Arbitrary<Determinant> = fc.oneof(
  fc.record({ type: fc.constant('polls' as const), vain: u32, consumed: u32 }),
  fc.record({ type: fc.constant('clock' as const), ms: fc.double({ noNaN: true }) }),
  fc.record({
    type: fc.constant('clock' as const),
    ms: fc.double({ noNaN: true }),
    count: fc.integer({ min: 1, max: 0xffff_ffff }),
  }),
  fc.record({ type: fc.constant('value' as const), value: fc.string({ unit: 'binary', maxLength: 40 }) }),
);

describe('determinant blocks', () => {
  test('what is written is read', () => {
    fc.assert(
      fc.property(u53, u53, u32, fc.array(determinant, { maxLength: 20 }), (first, consumed, openPolls, entries) => {
        const bytes = encodeDeterminants({ first, consumed, openPolls, entries });
        expect(bytes.length % 8).toBe(0);
        expect(decodeDeterminants(bytes)).toEqual({ first, consumed, openPolls, entries });
      }),
      { numRuns: 500 },
    );
  });
  test('any bytes are a block or MalformedDeterminants', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), (noise) => {
        try {
          decodeDeterminants(noise);
        } catch (e) {
          expect(e).toBeInstanceOf(MalformedDeterminants);
        }
      }),
      { numRuns: 5000 },
    );
  });
});

test('acknowledgements: what is written is read', () => {
  fc.assert(
    fc.property(
      u53,
      u53,
      u53,
      u53,
      fc.array(fc.record({ dst: u32, appended: u53, synced: u53 }), { maxLength: 9 }),
      (f, a, b, c, channels) => {
        const ack = {
          determinantsFirst: f,
          determinantsAppended: a,
          determinantsSynced: b,
          arrivalsSynced: c,
          channels,
        };
        expect(decodeAck(encodeAck(ack))).toEqual(ack);
      },
    ),
  );
});

describe('schemas at the border', () => {
  const path = Compile(FilePath);
  test.each(['main.ts', 'src/a_b/c-1.2.ts', 'data/1138_bus.mtx'])('path %s passes', (p) =>
    expect(path.Check(p)).toBe(true),
  );
  test.each(['', '/etc/passwd', '../x', 'a/../b', 'a//b', '.hidden', 'a/.git/config', 'a\\b', 'a b', 'a/', 'nul\0'])(
    'path %j is refused',
    (p) => expect(path.Check(p)).toBe(false),
  );

  test('a result may have colons in its name, a source may not', () => {
    for (const p of ['CoMD.2026:11:21-14:37:09.yaml', 'a/b:c'])
      expect([Compile(ResultPath).Check(p), path.Check(p)]).toEqual([true, false]);
    for (const p of [':x', 'a/:x', '../x:y', 'C:\\x']) expect(Compile(ResultPath).Check(p)).toBe(false);
  });

  test('a submission with an unknown field, a bad path or no ranks is refused', () => {
    const check = Compile(JobSubmission);
    const good = { program: { language: 'typescript', entry: 'main.ts', sources: { 'main.ts': '' } }, size: 2 };
    expect(check.Check(good)).toBe(true);
    expect(check.Check({ ...good, size: 0 })).toBe(false);
    expect(check.Check({ ...good, sudo: true })).toBe(false);
    expect(check.Check({ ...good, program: { ...good.program, entry: '../main.ts' } })).toBe(false);
  });
  test('an argument may have 128 KiB, and not a character more', () => {
    const check = Compile(JobSubmission);
    const program = { language: 'typescript', entry: 'main.ts', sources: { 'main.ts': '' } };
    const submission = (length: number) => ({ program, size: 2, args: ['a', 'x'.repeat(length)] });
    expect([4097, 131_072, 131_073].map((n) => check.Check(submission(n)))).toEqual([true, true, false]);
    const further = (length: number) => ({ program, size: 1, further: [{ ...submission(length), size: 1 }] });
    expect([131_072, 131_073].map((n) => check.Check(further(n)))).toEqual([true, false]);
  });
  test('hello and attach refuse what is out of range', () => {
    const hello = { version: 1, name: 'n', engine: 'Node', slots: 2, holds: [], images: [] };
    expect(Compile(Hello).Check(hello)).toBe(true);
    expect(Compile(Hello).Check({ ...hello, slots: -1 })).toBe(false);
    expect(Compile(Hello).Check({ ...hello, node: '../../x' })).toBe(false);
    const attach = {
      capability: 'c',
      nonce: 'abcdefgh',
      position: { protocol: 'pessimistic', version: 1, at: null },
      received: 0,
      resume: false,
    };
    expect(Compile(Attach).Check(attach)).toBe(true);
    expect(Compile(Attach).Check({ ...attach, nonce: 'x' })).toBe(false);
    expect(Compile(Attach).Check({ ...attach, received: -1 })).toBe(false);
    expect(Compile(Attach).Check({ ...attach, position: { ...attach.position, protocol: 'another' } })).toBe(false);
    expect(Compile(Attach).Check({ ...attach, position: { ...attach.position, version: 0 } })).toBe(false);
    expect(Compile(Assignment).Check({})).toBe(false);
  });
});

test('every error has advice that is a sentence, and a code that survives', () => {
  for (const [code, e] of Object.entries(ERRORS)) {
    expect(code).toMatch(/^[A-Z][A-Z_]+$/);
    expect(e.advice).toMatch(/\.$/);
  }
  expect(new MayflyError('FENCED', 'x').code).toBe('FENCED');
});
