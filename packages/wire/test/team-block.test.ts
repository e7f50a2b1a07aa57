import { describe, expect, it } from 'vitest';
import {
  MalformedDeterminants,
  decodeDeterminants,
  decodeTeamBlock,
  encodeDeterminants,
  encodeTeamBlock,
  taskId,
  teamHeads,
  type DeterminantBlock,
} from '../src/index.ts';

const block = (first: number): DeterminantBlock => ({
  first,
  consumed: 2 ** 40,
  openPolls: 2,
  entries: [
    { type: 'polls', vain: 3, consumed: 2 },
    { type: 'local', src: taskId(7), count: 5, after: 2 ** 41 },
    { type: 'clock', ms: 1.5 },
  ],
});
const sections = [0, 3].map((t) => ({ task: taskId(t), block: encodeDeterminants(block(t)) }));

describe('the team block', () => {
  it('has a section for each member', () => {
    const read = decodeTeamBlock(encodeTeamBlock(sections));
    expect(read.map((s) => s.task)).toEqual([0, 3]);
    expect(read.map((s) => decodeDeterminants(s.block))).toEqual([block(0), block(3)]);
  });

  it('keeps only heads at a receiver: their position is behind the entries', () => {
    expect(decodeTeamBlock(teamHeads(sections)).map((s) => decodeDeterminants(s.block))).toEqual([
      { ...block(3), entries: [] },
      { ...block(6), entries: [] },
    ]);
    expect(decodeDeterminants(sections[0]!.block)).toEqual(block(0));
  });

  it('is refused when it is cut, names a task twice, or holds less than a head', () => {
    const whole = encodeTeamBlock(sections);
    for (let n = 1; n < whole.length; n++)
      if (n !== 8 + sections[0]!.block.length)
        expect(() => decodeTeamBlock(whole.subarray(0, n)), String(n)).toThrow(MalformedDeterminants);
    expect(() => decodeTeamBlock(encodeTeamBlock([sections[0]!, sections[0]!]))).toThrow('two sections');
    expect(() => decodeTeamBlock(encodeTeamBlock([{ task: taskId(0), block: new Uint8Array(16) }]))).toThrow(
      MalformedDeterminants,
    );
  });
});

it('a local determinant without a message is refused', () => {
  const bytes = encodeDeterminants({ ...block(0), entries: [{ type: 'local', src: taskId(1), count: 0, after: 0 }] });
  expect(() => decodeDeterminants(bytes)).toThrow(MalformedDeterminants);
});
