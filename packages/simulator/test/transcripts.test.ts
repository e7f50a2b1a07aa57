/**
 * Named scenarios as golden transcripts. Each is played on the real cores; its text is compared with
 * test/transcripts/<name>.txt. After a wanted change: `npx vitest run packages/simulator/test/transcripts.test.ts
 * --update`, then read the difference.
 */
import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { Random } from '../src/random.ts';
import type { ScriptStep, World } from '../src/index.ts';
import { play, type Scenario } from './stage.ts';

const send = (dst: number, bytes = 8, tag = 0): ScriptStep => ({ type: 'send', dst, tag, bytes });
const receive = (src: number, tag = 0): ScriptStep => ({ type: 'receive', src, tag });
const output: ScriptStep = { type: 'output', bytes: 6 };
const checkpoint: ScriptStep = { type: 'checkpoint' };
const read: ScriptStep = { type: 'read' };
const clock: ScriptStep = { type: 'clock' };
const poll: ScriptStep = { type: 'poll', src: -1, tag: 9 };

const of = (world: World, task: number) => world.volunteers.find((v) => [...v.held.keys()].some((t) => t === task))!;

/** Every record that is not synced is lost. */
function losePower(world: World): void {
  world.server.kill();
  const worst = Object.assign(new Random(1), { between: (low: number) => low, chance: () => true });
  for (const cm of world.server.cms) cm.log.powerLoss(worst);
  world.agenda.after(50, () => world.server.start());
}

const scenarios: Record<string, Scenario> = {
  'the-papers-clone': {
    says:
      'An equal incarnation needs the same session nonce, else it is a clone: error, it drops the job and asks ' +
      'for new work',
    programs: [
      [send(1), receive(1), output],
      [receive(0), send(0), output],
    ],
    faults: [
      {
        on: 'begins task 1.0',
        what: 'the tab of task 1 is duplicated',
        strike: (w) => w.volunteer().becomeCloneOf(of(w, 1)),
      },
    ],
  },
  'half-open-zombie': {
    says:
      'The higher closes the lower. (The paper lets the first connection win; a laptop that sleeps with an ' +
      'open TCP connection would then lock its successor out.)',
    programs: [
      [send(1), receive(1), read, output],
      [clock, receive(0), send(0), output],
    ],
    faults: [
      {
        on: 'has consumed 1',
        what: 'the laptop of task 1 sleeps; its sockets stay open, and what it sends waits in them',
        strike: (w) =>
          of(w, 1)
            .connections()
            .forEach((l) => l.hold(w.agenda.now + 4500, () => undefined)),
      },
      {
        on: 'REFUSED task 1: FENCED',
        what: 'the zombie has spoken and was refused; somebody types the line that task 0 waits for',
        strike: (w) => w.typed(),
      },
    ],
  },
  'cut-determinant-chains': {
    says: 'Every frame that leaves a task carries all determinants that are not yet acknowledged by some CM',
    programs: [
      [clock, send(1), clock, poll, send(2), output],
      [receive(0), output],
      [receive(0), output],
    ],
    setup: { channelMemories: 2 },
    faults: [
      {
        on: 'begins task 0.0',
        what: 'the connection of task 0 to CM 1 stalls',
        strike: (w) =>
          of(w, 0)
            .dataLink(1)!
            .hold(w.agenda.now + 60_000, () => undefined),
      },
      {
        on: '0→2 #1 as arrival',
        what: 'the node of task 0 dies: its first message is lost, its second is logged',
        strike: (w) => of(w, 0).crash(false),
      },
    ],
  },
  'image-with-a-message-unsent': {
    says:
      'A message handed to the comm worker, the image completes over another connection, the tab dies with the ' +
      'message unsent, and the restart stands behind it',
    programs: [
      [clock, send(1), checkpoint, receive(1), output],
      [receive(0), send(0), output],
    ],
    setup: { channelMemories: 2 },
    faults: [
      {
        on: 'begins task 0.0',
        what: 'the connection of task 0 to CM 1 stalls',
        strike: (w) =>
          of(w, 0)
            .dataLink(1)!
            .hold(w.agenda.now + 60_000, () => undefined),
      },
      {
        on: 'OFFER',
        after: 100,
        what: 'the node of task 0 dies, its message unsent',
        strike: (w) => of(w, 0).crash(false),
      },
    ],
  },
  'damaged-newer-image': {
    says:
      'Two complete images are kept; logs are trimmed to the oldest image kept, so that a damaged newer image ' +
      'costs time and no answer',
    programs: [
      [receive(1), checkpoint, read, checkpoint, read, send(1), output],
      [clock, send(0), receive(0), output],
    ],
    spec: { stdin: 2 },
    faults: [
      {
        on: 'is complete',
        nth: 2,
        what: 'a page of the newer image is lost, then the node of task 0 dies',
        strike: (w) => {
          w.server.cs.lose(0 as never, 0.99);
          of(w, 0).crash(false);
        },
      },
    ],
  },
  'window-against-ordered-consumption': {
    says:
      'Envelopes are always consumed; the body of an unmatched or over-window message stays in the log, out of ' +
      'core, and is pulled on match',
    programs: [
      [receive(2, 2), ...Array.from({ length: 8 }, () => receive(1, 1)), output],
      [...Array.from({ length: 8 }, () => send(0, 300, 1)), output],
      [receive(1, 3), send(0, 8, 2), output],
    ].map((p, t) => (t === 1 ? [...p.slice(0, 8), send(2, 8, 3), ...p.slice(8)] : p)),
    spec: { storeBytes: 400 },
    hide: /ACK task|synced/,
    faults: [],
  },
  'death-within-a-large-message': {
    says:
      'A new incarnation sends a partial message again from its start, and both CM and receiver discard the ' +
      'partial one',
    programs: [
      [clock, send(1, 200), output],
      [receive(0), output],
    ],
    faults: [
      {
        on: 't1[0]  0→1 #1 bytes 0–63',
        what: 'the node of task 0 dies; one of four chunks is logged and pushed ahead',
        strike: (w) => of(w, 0).crash(false),
      },
    ],
  },
  'output-before-death': {
    says: 'What the world sees happens once, and never before what it depends on is logged',
    programs: [
      [clock, output, receive(1), output],
      [send(0), output],
    ],
    hide: /CREDIT|ACK task/,
    faults: [
      {
        on: 'logs w0[0]',
        what: 'the node of task 0 dies; its output is logged and not yet durable',
        strike: (w) => of(w, 0).crash(false),
      },
    ],
  },
  'server-and-rank-lost-behind': {
    says:
      'Power loss of the server together with the loss of a rank can exceed `behind`: it is detected and ends ' +
      'the job with a named error',
    programs: [
      [receive(1), send(1), output],
      [clock, send(0), receive(0), output],
    ],
    setup: { syncMs: 5000 },
    faults: [
      {
        on: 'has consumed 1',
        nth: 2,
        what: 'the server loses power, and the node of task 0 with it',
        strike: (w) => {
          of(w, 0).crash(false);
          losePower(w);
        },
      },
    ],
  },
  'server-and-rank-lost-strict': {
    says: '`strict` survives it',
    programs: [
      [receive(1), send(1), output],
      [clock, send(0), receive(0), output],
    ],
    setup: { syncMs: 5000, durability: 'strict' },
    faults: [
      {
        on: 'has consumed 1',
        nth: 2,
        what: 'the server loses power, and the node of task 0 with it',
        strike: (w) => {
          of(w, 0).crash(false);
          losePower(w);
        },
      },
    ],
  },
};

describe('named scenarios', () => {
  for (const [name, scenario] of Object.entries(scenarios))
    test(name, async () => {
      const file = new URL(`./transcripts/${name}.txt`, import.meta.url);
      const played = play(scenario);
      expect(played.text).not.toContain('never struck');
      if (name === 'server-and-rank-lost-behind') expect(played.outcome).toMatch(/^the job ended failed: LOST_LOG/);
      else expect(played.outcome).toMatch(/^a correct answer/);
      expect(existsSync(file) || process.env.CI === undefined, `${name}.txt is missing`).toBe(true);
      await expect(played.text).toMatchFileSnapshot(file.pathname);
    });
});
