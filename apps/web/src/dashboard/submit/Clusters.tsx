/** Into which clusters the ranks are split (docs/clusters.md): how many, or the ranks of each. */
import { clustersOfText, textOfClusters, type JobOptions } from '@mayfly/wire';
import { useState } from 'react';
import { Field } from './Field.tsx';

interface Props {
  options: JobOptions;
  set: (part: { clusters: JobOptions['clusters'] }) => void;
}

export function Clusters({ options: { clusters = 2 }, set }: Props) {
  const is = textOfClusters(clusters);
  const [typed, setTyped] = useState(is);
  const read = clustersOfText(typed.trim());
  // What was typed stays as it was typed; other clusters may come from another draft.
  const text = read === undefined || textOfClusters(read) === is ? typed : is;
  return (
    <Field
      label="Clusters"
      hint={
        'A number: the ranks are split evenly, and consecutive ranks form a cluster. Or the ranks of each: ' +
        '0-3,4-7 or 0-2+7,3-6'
      }
    >
      {(named) => (
        <input
          {...named}
          type="text"
          inputMode="text"
          autoComplete="off"
          aria-invalid={read === undefined}
          value={text}
          onChange={(e) => {
            setTyped(e.target.value);
            const next = clustersOfText(e.target.value.trim());
            if (next !== undefined) set({ clusters: next as NonNullable<JobOptions['clusters']> });
          }}
        />
      )}
    </Field>
  );
}
