/** Whether checkpoints stay with the nodes, protected by checksums on other nodes (docs/codes.md). */
import { DEFAULT_PROTOCOL } from '@mayfly/protocols/manifests';
import { DEFAULT_WHOLE_EVERY, MAX_CHECKSUMS, type JobOptions } from '@mayfly/wire';
import { refusedText } from '../protocol-texts.ts';
import { Field } from './Field.tsx';

interface Props {
  options: JobOptions;
  set: (part: { parity?: JobOptions['parity'] | undefined }) => void;
}

export function Parity({ options: o, set }: Props) {
  const refused = refusedText(o.protocol ?? DEFAULT_PROTOCOL, 'parity');
  return (
    <>
      <Field
        label="Checksums of checkpoints"
        hint={
          refused ??
          'Most checkpoints stay with the nodes, and this many tabs may close at once. It spares the disk of the ' +
            'server, not its network. Empty: all checkpoints go to the server'
        }
      >
        {(named) => (
          <input
            {...named}
            type="number"
            inputMode="numeric"
            min={0}
            max={MAX_CHECKSUMS}
            step={1}
            placeholder="0"
            disabled={refused !== undefined}
            value={o.parity?.checksums ?? ''}
            onChange={(e) => {
              const checksums = Math.min(MAX_CHECKSUMS, Math.round(e.target.valueAsNumber));
              set({ parity: checksums >= 1 ? { ...o.parity, checksums } : undefined });
            }}
          />
        )}
      </Field>
      {o.parity && (
        <Field
          label="One of so many checkpoints goes to the server"
          hint={`The others stay with the nodes. Empty: ${DEFAULT_WHOLE_EVERY}`}
        >
          {(named) => (
            <input
              {...named}
              type="number"
              inputMode="numeric"
              min={1}
              max={1000}
              step={1}
              placeholder={String(DEFAULT_WHOLE_EVERY)}
              value={o.parity?.wholeEvery ?? ''}
              onChange={(e) => {
                const { wholeEvery: _, ...parity } = o.parity!;
                const n = Math.min(1000, Math.round(e.target.valueAsNumber));
                set({ parity: n >= 1 ? { ...parity, wholeEvery: n } : parity });
              }}
            />
          )}
        </Field>
      )}
    </>
  );
}
