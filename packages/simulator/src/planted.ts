/**
 * Planted bugs: each undoes one rule of docs/pessimistic.md, docs/coordinated.md or docs/incarnations.md, and the
 * campaign has to find it. A rule is undone in the simulator's hosts, by changing an event or an effect on its way, or
 * by another row of the table of V-protocols (planted-protocols.ts): the cores stay as they are in production.
 */
import type { DispatcherSettings } from '@mayfly/protocols';
import { plant } from './plant.ts';
import { PLANTED_RECOVERING } from './planted-recovering.ts';
import { PLANTED_CLUSTERS } from './plants-of-clusters.ts';
import { PLANTED_STRANGERS } from './plants-of-strangers.ts';
import { PLANTED_TRIMMING } from './plants-of-trimming.ts';

export type { Held, Planted } from './plant.ts';

const POWER = { setup: { durability: 'behind', syncMs: 400 }, only: ['power loss', 'CM power loss'] } as const;
const EAGER = { setup: { lazyTicks: 1 } } as const;
const ZOMBIES = { only: ['stall', 'zombie', 'cut off', 'partition'] } as const;

/** Waves follow each other closely, and everything else may happen. */
const WAVES = { setup: { protocol: 'vcl', checkpointMs: 300 } } as const;
const NEAR_WAVES = { setup: { ...WAVES.setup, wholeEvery: 3 } } as const;
/** Teams take images one after the other, and most stay with the nodes. */
const NEAR_TEAMS = {
  setup: { team: 4, protocol: 'pessimistic', kind: 'wasm', checkpointMs: 300, wholeEvery: 2 },
  only: ['crash', 'rank crash', 'zombie', 'broken link', 'delay'],
} as const;
const BLOCKING_WAVES = { setup: { protocol: 'pcl', checkpointMs: 300 } } as const;
/** …but connections break, and often while a cut is on its way. */
const WAVES_OVER_BROKEN_LINKS = {
  ...WAVES,
  spec: { size: 4, rounds: 12, files: false },
  only: ['broken link'],
  faultEveryMs: 30,
} as const;
/** Nothing else fails: each seed ends with its answer. */
const RINGS = { setup: { protocol: 'none', team: 4 }, only: ['broken link', 'delay'] } as const;
const TEAMS = { setup: { team: 4, checkpointMs: 300 } } as const;
/** Nobody but the scripts themselves asks for an image. */
const TEAMS_OF_SCRIPTS = { setup: { team: 4, kind: 'typescript', checkpointMs: 1e9 } } as const;
/** …and the server loses power again and again, without an image. */
const POWER_OF_TEAMS = {
  setup: { team: 4, protocol: 'pessimistic', checkpointMs: 1e9, durability: 'strict', syncMs: 400, diskMs: 250 },
  spec: { rounds: 10, files: false },
  only: ['power loss', 'crash', 'zombie', 'clone', 'full disk'],
  faultEveryMs: 300,
} as const;
/** Nodes leave, and no other has room for their teams. */
const DISSOLVED = {
  setup: {
    team: 4,
    protocol: 'pessimistic',
    kind: 'wasm',
    checkpointMs: 300,
    nodes: 2,
    slots: 2,
    spare: 4,
    mapBy: 'slot',
  },
  spec: { size: 4, rounds: 30, files: false },
  only: ['close', 'rank crash'],
  faultEveryMs: 900,
} as const;
/** …of scripts. */
const DISSOLVED_SCRIPTS = {
  ...DISSOLVED,
  setup: { ...DISSOLVED.setup, kind: 'typescript', nodes: 1, slots: 4, spare: 6, replaceMs: 8000 },
  spec: { ...DISSOLVED.spec, prologueRounds: 2 },
} as const;
/** …and others have for a part of them. */
const PARTED = { ...DISSOLVED, setup: { ...DISSOLVED.setup, nodes: 1, slots: 4, spare: 3, spareSlots: 2 } } as const;
/** One node has room for a team that another one takes meanwhile. */
const MOVED = {
  ...DISSOLVED,
  setup: { ...DISSOLVED.setup, nodes: 1, slots: 4, spare: 2, spareSlots: 3 },
  only: ['close'],
  faultEveryMs: 2500,
} as const;
/** Teams are dissolved, and merged again where a large node takes the place of one that has gone. */
const MERGED = {
  ...DISSOLVED,
  setup: { ...DISSOLVED.setup, nodes: 1, slots: 4, spare: 4, spareSlots: 2 },
  spec: { ...DISSOLVED.spec, rounds: 60 },
  only: ['close'],
  faultEveryMs: 2500,
} as const;
/** …of which the nodes have one slot each: ranks that are alone know no counts. */
const MERGED_ALONE = { ...MERGED, setup: { ...MERGED.setup, spare: 6, spareSlots: 1 } } as const;
/** …and have many images, while what comes of the logs comes late. */
const MERGED_LATE = {
  ...MERGED_ALONE,
  setup: { ...MERGED_ALONE.setup, maxDelay: 60, checkpointMs: 100 },
  faultEveryMs: 1200,
} as const;

export const PLANTED = [
  // endpoint and rank
  plant(
    'single-counter',
    "The limit is per channel: the single counter of the paper's Figure 4 is unsafe with several CMs",
    200,
  ),
  plant(
    'limits-ignored',
    'A send whose number is below the limit of its channel is dropped (silent re-execution)',
    100,
  ),
  plant(
    'determinants-not-on-frames',
    'Every frame that leaves a task carries all determinants that are not yet acknowledged',
    100,
  ),
  plant('determinants-to-home-only', 'Nothing becomes visible before the events that it depends on are logged', 200),
  plant(
    'vain-polls-omitted',
    'A poll is an event also when it saw nothing; vain polls are run-length encoded, never omitted',
    200,
  ),
  plant('clock-not-logged', 'Clock readings are determinants', 200),
  plant('place-not-logged', 'Values that depend on the place are determinants', 400),
  plant(
    'waiting-call-consumes-all',
    'A waiting call consumes one arrival at a time, and none if its condition holds at entry',
    200,
  ),
  plant('waiting-for-space-consumes', 'Waiting for ring space consumes no arrival', 400),
  plant(
    'unmatched-not-consumed',
    'Envelopes are always consumed; the body of an unmatched message stays in the log',
    100,
  ),
  // comm worker
  plant('retention-until-ack', 'Comm workers retain sent messages until they are acknowledged as synced', 400, POWER),
  plant('arrivals-not-retained', 'Comm workers retain sent messages and, in order, received ones', 400, POWER),
  plant('exit-not-held-back', 'A task is done when its exit, after all its sends and outputs, is durable', 400, POWER),
  plant(
    'begins-before-all-answered',
    'Every CM fences the old incarnation and then answers with counts and determinants; only then does the ' +
      'new one execute',
    200,
  ),
  // Channel Memory
  plant(
    'numbered-at-first-chunk',
    'A message gets its arrival number at the last chunk, and an arrival exists for the task only when whole',
    200,
  ),
  plant('duplicates-logged', 'The home CM of d discards duplicates by channel number', 200),
  plant('forwards-before-append', 'A frame is forwarded after its append has reached the kernel', 200, {
    only: ['server and nodes', 'kill CM', 'rank crash'],
  }),
  plant('strict-forwards-before-sync', '`strict` syncs before it forwards', 400, { setup: { durability: 'strict' } }),
  plant('restart-answered-before-sync', 'A CM syncs before it answers a restart', 600, {
    setup: { syncMs: 400 },
    only: ['power loss', 'CM power loss', 'rank crash'],
  }),
  plant(
    'opens-before-reports',
    "A recovered CM accepts nothing new for d before d's comm worker has reported or been fenced",
    100,
    { setup: { durability: 'behind', syncMs: 400 }, only: ['CM power loss', 'reorder', 'delay'] },
  ),
  plant(
    'evidence-ignored',
    '`behind` may not survive a power loss of the server together with the loss of a rank, but detects it',
    600,
  ),
  plant(
    'late-reports-believed',
    'After a power loss of the server together with the loss of a rank, a receiver that sends arrivals back ' +
      'knows no more of a sender than its new incarnation',
    400,
    EAGER,
  ),
  plant('output-before-logged', 'Output appears once, and never before everything that it depends on is logged', 400, {
    setup: { syncMs: 400 },
    only: ['power loss', 'CM power loss', 'rank crash', 'crash'],
  }),
  // file service
  plant('requests-taken-again', 'A message (task, n) is decided once', 200),
  plant('answered-before-journal', 'The journal is durable before the file service answers', 400, {
    setup: { durability: 'behind', diskMs: 250 },
    only: ['power loss', 'CM power loss', 'crash'],
  }),
  plant('answers-forgotten', "The file service keeps an answer until it is durable in the task's log", 400, POWER),
  plant(
    'snapshot-before-files',
    'The snapshot replaces everything before it: those effects are durable in the files themselves',
    400,
    POWER,
  ),
  plant(
    'children-forgotten',
    'Each start reports spawned tasks to the dispatcher again: it may not have stored them before',
    400,
    { only: ['kill server', 'server and nodes', 'power loss'] },
  ),
  plant(
    'base-forgets',
    'Nothing is trimmed before the oldest kept image makes it superfluous (counts outlive the messages)',
    400,
    EAGER,
  ),
  plant(
    'acknowledged-past-the-mark',
    'C5: `synced` acknowledges only data that survives power loss; appends after the start of a sync wait ' +
      'for the next one',
    100,
  ),
  plant(
    'no-fence-at-cm',
    'A message from an older incarnation is refused everywhere, not only at the dispatcher',
    200,
    ZOMBIES,
  ),
  plant(
    'first-connection-wins',
    'The higher incarnation closes the lower (in the paper the first connection wins)',
    200,
  ),
  plant('clone-accepted', 'An equal incarnation needs the same session nonce, else it is a clone', 200),
  plant('forwards-though-full', 'A frame that cannot be appended is neither forwarded nor counted', 200, {
    only: ['full disk', 'rank crash', 'kill CM'],
  }),
  plant(
    'synced-though-full',
    'C5: `synced` acknowledges only data that survives power loss, also after a failed sync',
    400,
    { only: ['full disk'] },
  ),
  // Channel Memory of `none`
  plant('unconsumed-forgotten', 'A relay keeps each message in memory until its receiver has consumed it', 100, {
    setup: { protocol: 'none' },
    only: ['broken link', 'delay', 'duplicate'],
  }),
  // rings of teams
  plant('ring-reorders', 'The messages of one channel are taken in the order in which they were sent', 20, RINGS),
  plant('ring-repeats', 'A message that was taken from a ring is not in it any more', 20, RINGS),
  plant('ring-overwrites', 'A full ring stops the sender', 20, { ...RINGS, setup: { ...RINGS.setup, ringBytes: 90 } }),
  plant('held-for-ever', 'H3: no program stops for ever that would go on with more memory', 40, {
    setup: { protocol: 'pessimistic', team: 4, slots: 4, ringBytes: 90, backlogBytes: 300 },
    spec: { ordered: true },
    only: ['broken link', 'delay'],
  }),
  // teams with a log
  plant(
    'reports-read-first',
    'T5: the comm worker takes a frame, then reads the counter, then the reports',
    200,
    TEAMS,
  ),
  plant('late-member-ended', 'T1: no member begins before all are here that have not ended', 50, TEAMS),
  plant(
    'mates-heads-only',
    "T5: a task's record has the determinants of its teammates that came with it",
    300,
    POWER_OF_TEAMS,
  ),
  plant('marker-not-written', 'T6: a rank that takes its image writes a marker into each ring', 200, TEAMS),
  plant(
    'marker-passed',
    'T6: a rank that meets a marker takes its image before it consumes anything behind it',
    200,
    TEAMS,
  ),
  plant('channels-forgotten', 'T6: a restart puts the state of the channels back', 200, TEAMS),
  plant(
    'wish-not-answered',
    'L8: a script that waits at checkpoint.here gets a wave or its refusal, at once',
    20,
    TEAMS_OF_SCRIPTS,
  ),
  plant('local-suppressed', 'T7: local messages are resent during a replay', 200, TEAMS),
  // teams that are dissolved
  plant('counts-not-raised', 'T9: counts of channels that were local are raised', 100, DISSOLVED),
  plant('dissolved-anywhere', 'T9: a team is dissolved at an image with nothing after it', 200, DISSOLVED),
  plant('carried-forgotten', 'T9: channel state is carried over', 100, DISSOLVED),
  plant('carried-all-at-once', 'T9: a wait consumes one message at a time of what was carried over', 200, MERGED),
  plant('carried-in-team-forgotten', 'T9: so it is into a smaller team', 100, PARTED),
  plant('smaller-teams-not-heard', 'D28: who serves the job hears of smaller teams with their end', 100, PARTED),
  plant(
    'prologue-without-copies',
    'T6: a script that is alone has copies of what it received of teammates before checkpoint.open',
    100,
    DISSOLVED_SCRIPTS,
  ),
  plant('opened-forgotten', 'T6: what it had sent to them by then counts in its prologue', 100, DISSOLVED_SCRIPTS),
  plant('moved-in-parts', 'T8: a team restarts whole, on one node', 100, MOVED),
  // teams that are merged
  plant('merged-anywhere', 'T9: teams are merged at images with nothing after them', 200, MERGED),
  plant('merge-without-gate', 'T9: a local message waits for what the log had at the merge', 100, MERGED_ALONE),
  plant('merge-without-places', 'T9: so does what is carried over', 200, MERGED_LATE),
  // coordinated checkpointing
  plant('late-not-held', "G1: no receiver gets a message from behind its sender's cut before it has cut itself", 100, {
    ...WAVES,
    only: ['delay', 'broken link'],
  }),
  plant('held-numbered-early', 'X1: a message that is held back has no number', 100, WAVES),
  plant('channels-not-recorded', 'G2: a message that was in a channel at the cut is recorded', 100, WAVES),
  plant('held-bodies-not-recorded', 'G2: so are the bodies of held arrivals', 200, WAVES),
  plant('recorded-too-soon', 'G3: a receiver waits for every message from before a cut', 100, WAVES_OVER_BROKEN_LINKS),
  plant('records-not-synced', 'G3: a wave counts when what it has recorded is durable', 200, WAVES),
  plant('consumed-before-cut', 'W: CUT comes before the news of what was consumed after it', 100, WAVES),
  plant(
    'cut-after-data',
    'M8: over a new connection CUT leaves before what was sent after it',
    200,
    WAVES_OVER_BROKEN_LINKS,
  ),
  plant(
    'cut-by-position',
    'A cut is a set of counts: it means the same at any time, on any connection',
    100,
    WAVES_OVER_BROKEN_LINKS,
  ),
  plant('held-after-the-wave', 'G1: what was held back goes on when the wave is over', 100, WAVES),
  plant('outdated-life-accepted', 'L4: a new core hears of the fences before anybody speaks', 200, {
    ...WAVES,
    ...ZOMBIES,
    spec: { size: 3, rounds: 12 },
  }),
  plant('wave-number-reused', 'W1: numbers of waves rise, and none is used twice', 100, WAVES),
  plant('commit-without-records', 'W2: before a wave counts, everything that it needs is durable', 100, WAVES),
  plant('world-not-synced', 'X4: what a task had written to the world before its cut is durable', 100, WAVES),
  plant('rollback-during-commit', 'W5: a loss waits for the outcome of a commit', 200, WAVES),
  plant('last-stored-images', 'W6: all tasks go back to one committed wave', 100, WAVES),
  plant('one-log-not-back', 'W6: everybody has gone back before any task is assigned', 100, {
    setup: { ...WAVES.setup, channelMemories: 3 },
  }),
  plant('flushed-too-soon', 'G6: under pcl a task takes its image when everybody has marked', 100, BLOCKING_WAVES),
  plant('not-frozen', 'Z1: under pcl nothing leaves a task between its mark and its image', 100, BLOCKING_WAVES),
  plant('frozen-forgotten', 'Z2: what waited behind a mark leaves in the end', 100, BLOCKING_WAVES),
  plant('survivors-keep-incarnation', 'D16: a line and the new incarnations of all ranks are one commit', 100, WAVES),
  plant('queues-survive', 'L4: each line begins with a new core, without what the old one had', 100, WAVES),
  plant('stdin-not-rewound', 'L4: channels have the counts of the cuts, that of standard input too', 200, {
    ...WAVES,
    spec: { stdin: 8 },
  }),
  plant('output-at-once', 'W3: the world sees nothing that could still be undone', 100, WAVES),
  plant('requests-at-once', 'W3: nor does the file service: a request takes effect when it can never be undone', 100, {
    ...WAVES,
    spec: { files: true },
  }),
  plant('near-wave-shows', 'W9: a wave of which images are with the nodes shows nothing', 100, NEAR_WAVES),
  plant('near-in-place-of-whole', 'W9: nor does a wave that is at the server go for it', 100, NEAR_WAVES),
  plant('output-at-the-commit', 'W3: output is shown up to the older of the two waves that are kept', 100, WAVES),
  plant(
    'exit-at-once',
    'W8: an exit, and what was written before it, is final when nothing can go back behind it',
    100,
    WAVES,
  ),
  plant('wave-forgotten', 'W3: what two waves have recorded is kept', 100, WAVES),
  // Checkpoint Server
  plant('image-without-sends', 'An image is complete only when every send before it is durable', 600),
  plant('image-without-outputs', 'An image is complete only when every output before it is durable', 600),
  plant('image-without-determinants', 'An image is complete only when every determinant before it is durable', 800),
  plant('image-without-arrivals', 'An image is complete only when every arrival that it consumed is durable', 600),
  plant('image-without-pages', 'The CS declares an image complete only when every page is durable', 600),
  plant('pages-not-pinned', 'Pages named in a "have it" reply are pinned until the manifest commits', 800),
  plant('one-image-kept', 'Two complete images are kept', 400),
  plant('trimmed-to-newest', 'Logs are trimmed to the oldest image kept', 200),
  plant('held-bodies-trimmed', 'An image lists held arrivals, and trimming spares them', 400),
  plant('prologue-trimmed', 'The log of the prologue is never trimmed', 200),
  plant('parity-ignored', 'One damaged bit costs no image, even if both kept images name its page', 200, {
    only: ['image bit flip', 'rank crash', 'crash', 'reload'],
  }),
  plant('mixed-set-counts', 'C19: a set of which some images are with the nodes does not count', 100, NEAR_TEAMS),
  plant(
    'near-set-outlives-whole-ones',
    'C19: a set of level 1 is used while no newer set is complete',
    200,
    NEAR_TEAMS,
  ),
  plant('set-without-one', 'C20: of a set of level 1 all images can be had, or none is used', 100, NEAR_TEAMS),
  plant('no-fence-at-cs', 'Images of older incarnations are refused everywhere', 600, ZOMBIES),
  // dispatcher
  plant('incarnation-not-durable', 'Raise the incarnation durably, then fence', 400),
  plant(
    'commit-given-up',
    'A failed commit is repeated before the next one, and nothing that depends on it happens before',
    400,
    { setup: { diskMs: 250 }, only: ['full disk', 'kill server', 'rank crash', 'crash'] },
  ),
  plant(
    'no-fence-at-dispatcher',
    'Fence the CS, choose the image, every CM fences; only then does the new one execute',
    600,
  ),
  plant(
    'old-heartbeats-count',
    'A rank counts as crashed when its node does not name it; reports from before the rank reached the node ' +
      'do not count',
    400,
    { only: ['stall', 'delay', 'crash', 'freeze'] },
  ),
  plant(
    'loss-believed',
    'Input from a node is never trusted: the server asks the logs whether they have what a restart needs',
    100,
    { only: ['false loss'] },
  ),
  plant(
    'others-not-asked',
    'F5: no frame says of a task more than all Channel Memories of its job together know',
    100,
    { setup: { protocol: 'pessimistic', channelMemories: 3 }, only: ['false position', 'delay', 'broken link'] },
  ),
  plant(
    'deadlock-believed',
    'D12: a deadlock ends a job when the same ranks wait at the same place of their logs again, on other nodes',
    100,
    { only: ['false deadlock'] },
  ),
  plant('kinds-ignored', 'A rank is assigned only to a node that runs programs of its kind', 100),
  plant(
    'done-before-exit-durable',
    'A task is done when its exit is durable; only then may its own arrival log be deleted',
    400,
  ),
  ...PLANTED_STRANGERS,
  ...PLANTED_TRIMMING,
  ...PLANTED_CLUSTERS,
  ...PLANTED_RECOVERING,
] as const;

export type Rule = (typeof PLANTED)[number]['rule'];

/** Rules of the dispatcher that its settings undo. */
export function withoutRule(rule: Rule | undefined): Partial<DispatcherSettings> {
  if (rule === 'strangers-end-jobs') return { trustNewcomers: true };
  if (rule === 'no-quarantine') return { quarantineMaxMs: 0 };
  if (rule === 'no-comparison') return { stuckAfterMs: 1e9 };
  return {};
}
