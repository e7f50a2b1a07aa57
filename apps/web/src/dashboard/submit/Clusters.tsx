/** Into which clusters the ranks are split (docs/clusters.md): how many, or the ranks of each; and their timers. */
import { clustersOfText, textOfClusters, textOfTimers, timersOfText, type JobOptions } from '@mayfly/wire';
import { useState } from 'react';
import { Field } from './Field.tsx';

interface Props {
  options: JobOptions;
  set: (part: { [K in keyof JobOptions]?: JobOptions[K] | undefined }) => void;
}

export function Clusters({ options, set }: Props) {
  const { clusters = 2, clusterCheckpointMs: timers } = options;
  return (
    <div className="pair">
      <Typed
        label="Clusters"
        hint={
          'A number: the ranks are split evenly, and consecutive ranks form a cluster. Or the ranks of each: ' +
          '0-3,4-7 or 0-2+7,3-6'
        }
        is={textOfClusters(clusters)}
        plain={(text) => then(clustersOfText(text), textOfClusters)}
        onChange={(text) => set({ clusters: clustersOfText(text) as JobOptions['clusters'] })}
      />
      <Typed
        label="Checkpoint each cluster every (s)"
        hint={
          'Empty: one time for all. A number for each cluster: 30,120. none: no timer, only messages and output ask ' +
          'for its checkpoints'
        }
        is={timers ? textOfTimers(timers) : ''}
        plain={(text) => (text === '' ? '' : then(timersOfText(text), textOfTimers))}
        onChange={(text) => set({ clusterCheckpointMs: timersOfText(text), checkpointMs: undefined })}
      />
    </div>
  );
}

const then = <T, R>(value: T | undefined, f: (value: T) => R): R | undefined =>
  value === undefined ? undefined : f(value);

interface TypedProps {
  label: string;
  hint: string;
  /** The value, as text. */
  is: string;
  /** The same value in one way to write it; undefined: the text is no value. */
  plain: (text: string) => string | undefined;
  onChange: (text: string) => void;
}

/** What was typed stays as it was typed; another value may come from another draft. */
function Typed({ label, hint, is, plain, onChange }: TypedProps) {
  const [typed, setTyped] = useState(is);
  const read = plain(typed.trim());
  return (
    <Field label={label} hint={hint}>
      {(named) => (
        <input
          {...named}
          type="text"
          inputMode="text"
          autoComplete="off"
          aria-invalid={read === undefined}
          value={read === undefined || read === is ? typed : is}
          onChange={(e) => {
            setTyped(e.target.value);
            const text = e.target.value.trim();
            if (plain(text) !== undefined) onChange(text);
          }}
        />
      )}
    </Field>
  );
}
