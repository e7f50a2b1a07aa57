/**
 * Standard input and what a job may choose, a sentence on each. Times are typed in seconds; empty is the server's
 * default.
 */
import type { CheckpointAdvice, InfoView, JobOptions } from '@mayfly/wire';
import { Link } from '@tanstack/react-router';
import { duration } from '../../shared/format.ts';
import { Input, Label, Text, TextArea, TextField } from 'react-aria-components';
import { languageOf, type Draft } from '../draft.ts';
import { Clusters } from './Clusters.tsx';
import { NumberField } from './NumberField.tsx';
import { Parity } from './Parity.tsx';
import { Placement } from './Placement.tsx';
import { Recovery } from './Recovery.tsx';
import { Seconds } from './Seconds.tsx';
import { accepts, DEFAULT_PROTOCOL, manifests, refusalOf } from '@mayfly/protocols/manifests';
import { CHOICES, refusedText, strictText, withProtocol } from '../protocol-texts.ts';

interface Props {
  draft: Draft;
  change: (part: Partial<Draft>) => void;
  advice: CheckpointAdvice | undefined;
  /** What the server does where the job says nothing; undefined: not known yet. */
  defaults: InfoView['defaults'] | undefined;
  /** The most memory that a rank may have; undefined: not known yet. */
  mostMemory: number | undefined;
  wrong: string[];
}

/** What an empty interval means, and why. */
export function adviceText(a: CheckpointAdvice | undefined): string {
  if (!a?.measured) return 'from one checkpoint to the next. Too few losses so far to calculate a better default';
  return (
    `from one checkpoint to the next. The default is measured here: a checkpoint stops a rank for ` +
    `${duration(a.costMs ?? 0)}, and a rank is lost every ${duration(a.mtbfMs ?? 0)} (√(2·cost·time), Young and Daly)`
  );
}

/** What an empty interval means where all ranks take a checkpoint together. */
const TOGETHER =
  'from one checkpoint of all ranks to the next. The default is calculated while the job runs, from the time that a ' +
  'checkpoint takes and the losses';

const MEBI = 1024 * 1024;

export function Options({ draft, change, advice, defaults, mostMemory, wrong }: Props) {
  const o = draft.options;
  const protocol = o.protocol ?? DEFAULT_PROTOCOL;
  const { findsCheckpointMs, leastCheckpointMs } = manifests[protocol];
  const set = (part: { [K in keyof JobOptions]?: JobOptions[K] | undefined }) => {
    const merged = { ...o, ...part };
    change({ options: Object.fromEntries(Object.entries(merged).filter(([, v]) => v !== undefined)) as JobOptions });
  };
  return (
    <details className="options">
      <summary>Standard input and options</summary>
      <div className="stack">
        <TextField className="field" value={draft.stdin} onChange={(stdin) => change({ stdin })}>
          <Label>Standard input of rank 0</Label>
          <TextArea rows={3} spellCheck="false" />
        </TextField>
        <label className="check">
          <input
            type="checkbox"
            checked={o.interactive ?? false}
            onChange={(e) => set({ interactive: e.target.checked || undefined })}
          />
          <span>Keep it open, to send lines while the job runs</span>
        </label>
        <TextField className="field" value={draft.env} onChange={(env) => change({ env })} isInvalid={wrong.length > 0}>
          <Label>Environment variables</Label>
          <TextArea rows={2} spellCheck="false" className="in mono" placeholder="NAME=value, one per line" />
          <Text slot="description" className="hint">
            The same for every rank: getenv in C and C++, env in TypeScript.
          </Text>
          {wrong.map((t) => (
            <span key={t} className="wrong">
              {t}
            </span>
          ))}
        </TextField>
        <TextField className="field" type="url" value={draft.notify} onChange={(notify) => change({ notify })}>
          <Label>Webhook</Label>
          <Input className="in mono" autoComplete="off" placeholder="https://…" maxLength={2000} />
          <Text slot="description" className="hint">
            The server posts the result to this URL when the job has ended. Other people with a token can read the URL.
          </Text>
        </TextField>
        <fieldset className="radios">
          <legend className="label">When a rank is lost</legend>
          {CHOICES.map((c) => {
            const refused = languageOf(draft) === 'typescript' ? refusalOf(c.name, 'scripts') : undefined;
            return (
              <label key={c.name} className="check">
                <input
                  type="radio"
                  name="protocol"
                  checked={protocol === c.name}
                  disabled={refused !== undefined}
                  onChange={() => change({ options: withProtocol(o, c.name) })}
                />
                <span>
                  {c.texts.choice}{' '}
                  <span className="muted">({refused ? `not for TypeScript: ${refused}` : c.texts.costs})</span>
                </span>
              </label>
            );
          })}
          <p className="small">
            <Link to="/docs/$name" params={{ name: 'protocols' }}>
              Which protocol should I choose?
            </Link>
          </p>
        </fieldset>
        {accepts(protocol, 'ft') && <Recovery options={o} set={set} />}
        {accepts(protocol, 'clusters') && <Clusters options={o} set={set} />}
        <label className="check">
          <input
            type="checkbox"
            checked={o.durability === 'strict'}
            disabled={!accepts(protocol, 'strict')}
            onChange={(e) => set({ durability: e.target.checked ? 'strict' : undefined })}
          />
          <span>
            Strict durability <span className="muted">– {strictText(protocol)}</span>
          </span>
        </label>
        <Placement options={o} set={set} />
        <Parity options={o} set={set} />
        <div className="pair">
          <Seconds
            label="Checkpoint every"
            hint={findsCheckpointMs ? TOGETHER : adviceText(advice)}
            usual={findsCheckpointMs ? 'automatic' : advice && advice.checkpointMs / 1000}
            refused={o.clusterCheckpointMs ? 'each cluster has its own time' : refusedText(protocol, 'checkpoints')}
            least={leastCheckpointMs / 1000}
            value={o.checkpointMs}
            onChange={(checkpointMs) => set({ checkpointMs })}
          />
          <Seconds
            label="Grace"
            hint="how long a node keeps its ranks when its connection breaks. Empty: less while other slots are free"
            least={0.2}
            usual={defaults && defaults.graceMs / 1000}
            value={o.graceMs}
            onChange={(graceMs) => set({ graceMs })}
          />
          <Seconds
            label="Try elsewhere after"
            hint="a rank without progress for this long, and so many times the longest pause of any rank"
            usual={600}
            least={1}
            refused={refusedText(protocol, 'moves')}
            value={o.stuckAfterMs}
            onChange={(stuckAfterMs) => set({ stuckAfterMs })}
          />
          <NumberField
            label="… and so many longest pauses"
            hint={refusedText(protocol, 'moves') ?? 'times the longest pause that any rank of the job has shown'}
            least={1}
            most={10_000}
            usual={accepts(protocol, 'moves') ? 10 : 'none'}
            disabled={!accepts(protocol, 'moves')}
            value={o.stuckFactor}
            onChange={(times) =>
              set({ stuckFactor: Number.isFinite(times) ? Math.min(10_000, Math.max(1, times)) : undefined })
            }
          />
          <Seconds
            label="Time limit"
            hint="the job ends after this time"
            least={1}
            usual="none"
            value={o.timeLimitMs}
            onChange={(timeLimitMs) => set({ timeLimitMs })}
          />
          <NumberField
            label="Memory of a rank"
            hint={`MiB${mostMemory ? `, at most ${mostMemory / MEBI} on this server` : ''}. Above it, malloc fails in C, and a TypeScript rank ends`}
            least={16}
            {...(mostMemory && { most: mostMemory / MEBI })}
            whole
            usual={defaults && defaults.memoryBytes / MEBI}
            value={o.memoryBytes === undefined ? undefined : Math.round(o.memoryBytes / MEBI)}
            onChange={(mb) =>
              set({
                memoryBytes: Number.isFinite(mb) ? Math.max(16, Math.round(mb)) * MEBI : undefined,
              })
            }
          />
        </div>
      </div>
    </details>
  );
}
