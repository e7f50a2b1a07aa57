/**
 * A lesson under way: the server's job, and the nodes of this page that run its ranks.
 *
 * Owns: the nodes (each is what another tab would be: daemon, frame, workers, one slot) and the code of the lesson.
 *  I1 What is shown is what the server and the nodes say, nothing is invented.
 *  I2 Who leaves the page ends the nodes and the job.
 */
import { ApiFailure, connect } from '@mayfly/rest/client';
import { createVolunteer, type Volunteer } from '@mayfly/node/page';
import { LESSON_LAPS, LESSON_RANKS, type LessonView } from '@mayfly/wire';
import { hasEnded } from '../dashboard/status-texts.ts';
import { lines, lostText, returnText } from './lesson-texts.ts';

export interface LessonNode {
  /** 'tab 1'… */
  name: string;
  /** The rank that is here; undefined: none yet. */
  rank: number | undefined;
}

export interface LessonState {
  phase: 'before' | 'beginning' | 'on' | 'over' | 'broken';
  error?: string;
  /** The server asks for its join code, or that of a room. */
  asksForCode?: boolean;
  view?: LessonView;
  nodes: readonly LessonNode[];
  /** What happened, as sentences; newest last. */
  story: readonly string[];
}

const LOOK_MS = 500;
/** The lesson needs no token, and shows none that this browser may have. */
const api = connect({ baseUrl: '', token: () => undefined });
const of = (code: string) => ({ params: { code } });
export const BEFORE: LessonState = { phase: 'before', nodes: [], story: [] };

export class Lesson {
  #code: string | undefined;
  #opened = 0;
  #ended = false;
  readonly #nodes = new Map<string, Volunteer>();
  #state: LessonState = BEFORE;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly onChange: (s: LessonState) => void) {}

  #show(part: Partial<LessonState>): void {
    if (this.#ended) return;
    const nodes = [...this.#nodes].map(([name, v]): LessonNode => ({ name, rank: v.snapshot().ranks[0]?.task }));
    this.#state = { ...this.#state, nodes, ...part };
    this.onChange(this.#state);
  }
  #tell(sentence: string): void {
    this.#show({ story: [...this.#state.story, sentence] });
  }

  /** @param room the join code that a volunteer would type here, if the server has one */
  async begin(room = ''): Promise<void> {
    this.#show({ phase: 'beginning' });
    try {
      const { code } = await api.post('/api/lesson', { body: room === '' ? {} : { room } });
      this.#code = code;
      if (this.#ended) return this.leave();
      this.#tell(
        `The server has a job of ${LESSON_RANKS} ranks. This page opens ${LESSON_RANKS} nodes for it; to the ` +
          'server, each looks like a separate tab.',
      );
      await Promise.all(Array.from({ length: LESSON_RANKS }, () => this.#open()));
      await this.#look();
    } catch (e) {
      const asksForCode = e instanceof ApiFailure && e.code === 'UNAUTHORIZED';
      this.#show({ phase: 'broken', error: e instanceof Error ? e.message : String(e), asksForCode });
    }
  }

  async #open(): Promise<void> {
    const name = `tab ${++this.#opened}`;
    const node = createVolunteer({ name: `lesson, ${name}`, slots: 1, room: this.#code!, identity: false });
    this.#nodes.set(name, node);
    node.subscribe(() => this.#show({}));
    await node.start();
  }

  async #look(): Promise<void> {
    clearTimeout(this.#timer);
    if (this.#ended || !this.#code) return;
    try {
      this.#take(await api.get('/api/lesson/:code', of(this.#code)));
    } catch (e) {
      if (this.#state.phase === 'over') return;
      return this.#show({ phase: 'broken', error: e instanceof Error ? e.message : String(e) });
    }
    if (!this.#ended && this.#state.phase !== 'over') this.#timer = setTimeout(() => void this.#look(), LOOK_MS);
  }

  #take(view: LessonView): void {
    const before = this.#state.view;
    const story = [...this.#state.story];
    for (const f of view.faults) {
      const known = before?.faults.find((b) => b.rank === f.rank && b.incarnation === f.incarnation);
      const rank = view.ranks[f.rank]!;
      if (!known) story.push(lostText(rank));
      if (f.recoveredAfterMs !== undefined && known?.recoveredAfterMs === undefined) story.push(returnText(rank));
    }
    const laps = lines(view.output);
    if (laps.length > lines(before?.output ?? '').length)
      story.push(`Lap ${laps.length} of ${LESSON_LAPS} is done: rank 0 prints ${laps.at(-1)}.`);
    const over = hasEnded(view.state);
    this.#show({
      view,
      story,
      phase: over ? 'over' : 'on',
      ...(view.error === undefined ? {} : { error: view.error }),
    });
    if (over) for (const [name, node] of this.#nodes) void this.#end(name, node);
  }

  async step(): Promise<void> {
    if (!this.#code) return;
    if ((this.#state.view?.steps ?? 0) === 0)
      this.#tell('You sent the token round: it goes from rank to rank, and each adds it to its sum.');
    await api
      .post('/api/lesson/:code/step', of(this.#code))
      .catch((e: unknown) => this.#show({ phase: 'broken', error: (e as Error).message }));
    await this.#look();
  }

  /** As a person closes a tab: goodbye at most, no last image. */
  async closeNode(name: string): Promise<void> {
    const node = this.#nodes.get(name);
    if (!node) return;
    const rank = node.snapshot().ranks[0]?.task;
    this.#tell(rank === undefined ? `You closed ${name}.` : `You closed ${name}, and rank ${rank} with it.`);
    await this.#end(name, node);
    await this.#look();
  }

  async openNode(): Promise<void> {
    this.#tell('You opened another tab: a free slot, and the server gives it the rank that has none.');
    await this.#open().catch((e: unknown) => this.#show({ phase: 'broken', error: (e as Error).message }));
  }

  async #end(name: string, node: Volunteer): Promise<void> {
    this.#nodes.delete(name);
    this.#show({});
    await node.stop(0).catch(() => undefined); // it is gone anyway
  }

  /** I2 */
  leave(): void {
    this.#ended = true;
    clearTimeout(this.#timer);
    for (const node of this.#nodes.values()) void node.stop(0).catch(() => undefined);
    this.#nodes.clear();
    if (this.#code) void api.delete('/api/lesson/:code', { ...of(this.#code), keepalive: true }).catch(() => undefined);
  }
}
