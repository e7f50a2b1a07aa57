/**
 * `/dashboard/new`: program, ranks, arguments, input, options; an example, a copy of an old job, or one's own files.
 */
import type { Diagnostic, ExampleEntry } from '@mayfly/wire';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useRef, useState, type FormEvent } from 'react';
import { Input, Label, TextField } from 'react-aria-components';
import {
  ApiFailure,
  getAdvice,
  getExampleFile,
  getExamples,
  getInfo,
  getRooms,
  getSubmission,
  submitJob,
} from '../api.ts';
import { ComputeHere } from '../ComputeHere.tsx';
import { useNodes } from '../context.tsx';
import {
  clusterPlaces,
  draftOfExample,
  draftOfSubmission,
  emptyDraft,
  languageOf,
  MOST_ABOUT,
  problems,
  ranksOf,
  toSubmission,
  type Draft,
} from '../draft.ts';
import { Problem } from '../Problem.tsx';
import { accepts, DEFAULT_PROTOCOL, manifests } from '@mayfly/protocols/manifests';
import { fateOf } from '../missing-slots.ts';
import { plural } from '../../shared/format.ts';
import { Gallery } from './Gallery.tsx';
import { exampleNamed, useOpening } from './open-example.ts';
import { opened } from './program-from-files.ts';
import { InputFiles } from './InputFiles.tsx';
import { Options } from './Options.tsx';
import { Ranks } from './RanksField.tsx';
import { RoomField } from './RoomField.tsx';
import { Sources } from './Sources.tsx';
import { Diagnostics } from './Diagnostics.tsx';
import { Drafts } from './Drafts.tsx';
import { draftOfCard, dropDraft, keepDraft, newId, readDrafts, type Unsent } from './draft-store.ts';
import './submit.css';

interface Chosen {
  /** Of the draft, once it differs from what it began as. */
  id: string;
  draft: Draft;
  example: string | undefined;
}

/** What the form showed last survives a look at another page; what was changed in it survives more (draft-store.ts). */
let kept: Chosen | undefined;
/** A change is stored after this pause. */
const KEEP_AFTER_MS = 300;

/**
 * The form appears with what the address asks for, or not yet: what a form of another program shows could be submitted
 * by mistake.
 */
export function SubmitPage() {
  const { example: wanted, from, room } = useSearch({ from: '/dashboard/new' });
  const examples = useQuery({ queryKey: ['examples'], queryFn: getExamples, staleTime: 60_000 });
  const copied = useQuery({
    queryKey: ['submission', from],
    queryFn: async () => opened(draftOfSubmission(await getSubmission(from!))),
    enabled: from !== undefined,
  });
  const found = useQuery({ ...exampleNamed(wanted ?? ''), enabled: wanted !== undefined });
  const [drafts, setDrafts] = useState<readonly Unsent[]>();
  useEffect(() => void readDrafts().then(setDrafts), []);
  const awaited =
    drafts === undefined ||
    (wanted !== undefined && (examples.isPending || found.isPending)) ||
    (from !== undefined && copied.isPending);
  let start: Omit<Chosen, 'id'> | undefined;
  if (found.data) start = { draft: draftOfExample(found.data), example: found.data.name };
  else if (copied.data) start = { draft: copied.data, example: undefined };
  if (room !== undefined) start = { draft: { ...(start?.draft ?? emptyDraft()), room }, example: start?.example };
  return (
    <div className="stack">
      <title>New job – Mayfly</title>
      <h1>New job</h1>
      <Problem error={copied.error} title="Could not load the job to copy" />
      <Problem error={examples.error} title="Could not load the examples" />
      <Problem error={found.error} title="Could not load the example" />
      {awaited ? (
        <p className="muted" role="status">
          Reading {wanted ?? 'the job'}…
        </p>
      ) : (
        <SubmitForm
          key={`${wanted ?? ''} ${from ?? ''} ${room ?? ''}`}
          start={start}
          stored={drafts}
          examples={examples.data ?? []}
        />
      )}
    </div>
  );
}

const begin = (draft: Draft, example?: string): Chosen => ({ id: newId(), draft, example });

function SubmitForm({
  start,
  stored,
  examples,
}: {
  start: Omit<Chosen, 'id'> | undefined;
  stored: readonly Unsent[];
  examples: ExampleEntry[];
}) {
  const navigate = useNavigate();
  const nodes = useNodes();
  const rooms = useQuery({ queryKey: ['rooms'], queryFn: getRooms });
  const [drafts, setDrafts] = useState(stored);
  const [{ id, draft, example }, setState] = useState<Chosen>(
    () => (start && { ...start, id: newId() }) ?? kept ?? stored[0] ?? begin(emptyDraft()),
  );
  /** The draft that was read back rather than begun here. */
  const [back, setBack] = useState(start || kept ? undefined : stored[0]?.id);
  const began = useRef(draft);
  const [shown, setShown] = useState(false);
  const [file, setFile] = useState(draft.entry);
  /** Counts programs that were begun with. */
  const [begun, setBegun] = useState(0);

  const show = (next: Chosen) => {
    keep();
    began.current = next.draft;
    setState(next);
    setFile(next.draft.entry);
    setShown(false);
    setBegun((n) => n + 1);
    setBack(undefined);
    submit.reset();
    opening.reset();
  };
  const opening = useOpening((pristine, name) => show(begin({ ...pristine, room: draft.room }, name)));
  /** What a card is for everybody. */
  const showPristine = (name: string | undefined) =>
    name === undefined ? show(begin({ ...emptyDraft(), room: draft.room })) : opening.open(name);
  /** At once, and only what was changed: a program that one looked at is no draft. */
  const keep = () => {
    if (draft !== began.current) setDrafts(keepDraft({ id, draft, example, savedAt: Date.now() }));
  };
  const open = (u: Unsent) => {
    show(u);
    setBack(u.id);
  };
  /** A card is the program that one made of it, else what it is for everybody. */
  const choose = (from: string | undefined) => {
    if (from === example) return opening.reset();
    const mine = draftOfCard(drafts, from);
    if (mine) open(mine);
    else showPristine(from);
  };
  const change = (part: Partial<Draft>) => setState((s) => ({ ...s, draft: { ...s.draft, ...part } }));

  const room = draft.room;
  const measured = useQuery({ queryKey: ['advice', room], queryFn: () => getAdvice(room || undefined), retry: false });
  /** What an empty field means where enough was measured; elsewhere the job's scheduler finds it. */
  const protocol = draft.options.protocol ?? DEFAULT_PROTOCOL;
  const checkpointMs =
    measured.data?.measured &&
    accepts(protocol, 'checkpoints') &&
    !manifests[protocol].findsCheckpointMs &&
    draft.options.checkpointMs === undefined
      ? measured.data.checkpointMs
      : undefined;

  const submitted = useRef(false);
  const submit = useMutation({
    mutationFn: async () =>
      submitJob(
        await toSubmission(
          checkpointMs === undefined ? draft : { ...draft, options: { ...draft.options, checkpointMs } },
          (f) => getExampleFile(f.example, f.path),
        ),
      ),
    onSuccess: async (job) => {
      kept = undefined;
      submitted.current = true;
      // Before the page may go: else the draft of a submitted job is offered again.
      await dropDraft(id);
      return navigate({ to: '/dashboard/jobs/$id', params: { id: job.id } });
    },
  });

  useEffect(() => {
    if (submitted.current) return;
    kept = { id, draft, example };
    const timer = setTimeout(() => submitted.current || keep(), KEEP_AFTER_MS);
    return () => clearTimeout(timer);
    // `keep` is of this draft
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [id, draft, example]);

  const refusal = useRef<HTMLDivElement>(null);
  const diagnostics: readonly Diagnostic[] = submit.error instanceof ApiFailure ? submit.error.diagnostics : [];
  useEffect(() => {
    const first = diagnostics[0];
    if (first && draft.sources.some((s) => s.path === first.file)) setFile(first.file);
    if (submit.error) refusal.current?.scrollIntoView({ block: 'nearest' });
    // only when a new answer came
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [submit.error]);

  const info = useQuery({ queryKey: ['info'], queryFn: getInfo, staleTime: 60_000 });
  const wrong = problems(draft, info.data?.maxSubmissionBytes);
  const saysAt = (field: string) => (shown ? wrong.filter((p) => p.field === field).map((p) => p.text) : []);
  const language = languageOf(draft);
  const ranks = ranksOf(draft);
  const fate = fateOf(
    nodes.data ?? [],
    clusterPlaces(draft) ?? [{ room, ranks }],
    language === 'archive' ? undefined : language,
  );
  const send = (e: FormEvent) => {
    e.preventDefault();
    setShown(true);
    if (wrong.length === 0) submit.mutate();
  };

  return (
    <form className="stack" onSubmit={send} noValidate>
      <Drafts
        shown={drafts.find((u) => u.id === back)}
        others={drafts.filter((u) => u.id !== id)}
        onOpen={open}
        onDrop={(u) => void dropDraft(u.id).then(setDrafts)}
      />
      <Gallery
        examples={examples}
        chosen={example}
        onChoose={choose}
        onOwn={() => choose(undefined)}
        onStartOver={() => showPristine(example)}
      />
      <Problem error={opening.error} title="Could not load the example" />
      <div className="submit">
        <div className="stack">
          <Sources
            key={begun}
            draft={draft}
            file={file}
            onFile={setFile}
            change={change}
            diagnostics={diagnostics}
            wrong={[...saysAt('sources'), ...saysAt('entry')]}
          />
          <div ref={refusal} className="refusal">
            <Problem
              error={submit.error}
              title={diagnostics.length ? 'The program does not compile' : 'The server rejected the job'}
            >
              <Diagnostics list={diagnostics} onGo={(d) => setFile(d.file)} />
            </Problem>
          </div>
        </div>
        <div className="stack">
          <section className="card" aria-label="How to run it">
            <TextField className="field" value={draft.name} onChange={(name) => change({ name })} maxLength={80}>
              <Label>Name</Label>
              <Input placeholder={draft.entry} autoComplete="off" />
            </TextField>
            <TextField
              className="field"
              value={draft.about}
              onChange={(about) => change({ about })}
              maxLength={MOST_ABOUT}
            >
              <Label>Purpose</Label>
              <Input placeholder="shown to volunteers" autoComplete="off" />
            </TextField>
            <Ranks
              size={draft.size}
              onChange={(size) => change({ size })}
              advice={nodes.data && fate.advice}
              way={fate.enough || <ComputeHere lacking={fate.lacking} room={fate.room} />}
              wrong={saysAt('size')}
            />
            {draft.further && (
              <p className="row apart">
                <span className="muted small">
                  {plural(draft.further.length, 'further program')} with {plural(ranks - draft.size, 'rank')}, submitted
                  unchanged
                </span>
                <button type="button" className="button small ghost" onClick={() => change({ further: undefined })}>
                  Leave out
                </button>
              </p>
            )}
            <RoomField rooms={rooms.data ?? []} draft={draft} change={change} />
            <TextField
              className="field"
              value={draft.args}
              onChange={(args) => change({ args })}
              isInvalid={saysAt('args').length > 0}
            >
              <Label>Arguments</Label>
              <Input className="in mono" autoComplete="off" spellCheck="false" placeholder="as on a command line" />
              {saysAt('args').map((t) => (
                <span key={t} className="wrong">
                  {t}
                </span>
              ))}
            </TextField>
            {['c', 'c++'].includes(languageOf(draft)) && (
              <TextField
                className="field"
                value={draft.flags}
                onChange={(flags) => change({ flags })}
                isInvalid={saysAt('flags').length > 0}
              >
                <Label>Compiler options</Label>
                <Input className="in mono" autoComplete="off" spellCheck="false" placeholder="-O3 -DN=100" />
                {saysAt('flags').map((t) => (
                  <span key={t} className="wrong">
                    {t}
                  </span>
                ))}
              </TextField>
            )}
            <InputFiles
              files={draft.files}
              most={info.data?.maxInputBytes}
              onChange={(files) => change({ files })}
              wrong={saysAt('files')}
            />
            <Options
              draft={draft}
              change={change}
              advice={measured.data}
              defaults={info.data?.defaults}
              mostMemory={info.data?.maxMemoryBytes}
              wrong={saysAt('env')}
            />
            <button className="button primary big" type="submit" disabled={submit.isPending}>
              {submit.isPending ? 'Compiling…' : 'Submit'}
            </button>
            <p className="muted small">
              This runs on volunteers’ machines.{' '}
              <Link to="/docs/$name" params={{ name: 'trust' }}>
                What that means for trust
              </Link>
              .
            </p>
            <p className="muted small">
              {languageOf(draft) !== 'typescript' ? (
                <>
                  How programs are written:{' '}
                  <Link to="/docs/$name" params={{ name: 'c-programs' }}>
                    C and C++
                  </Link>
                  ,{' '}
                  <Link to="/docs/$name" params={{ name: 'mpi-coverage' }}>
                    which MPI functions there are
                  </Link>
                  .
                </>
              ) : (
                <>
                  How programs are written:{' '}
                  <Link to="/docs/$name" params={{ name: 'programs' }}>
                    in TypeScript
                  </Link>
                  ,{' '}
                  <Link to="/docs/$name" params={{ name: 'typescript-reference' }}>
                    the module mayfly
                  </Link>
                  .
                </>
              )}
            </p>
            {shown && wrong.length > 0 && (
              <p className="wrong" role="alert">
                {wrong[0]?.text}
              </p>
            )}
          </section>
        </div>
      </div>
    </form>
  );
}
