/** Whether checkpoints stay with the nodes, protected by checksums on other nodes (docs/codes.md). */
import { DEFAULT_PROTOCOL } from '@mayfly/protocols/manifests';
import { DEFAULT_WHOLE_EVERY, MAX_CHECKSUMS, type JobOptions } from '@mayfly/wire';
import { refusedText } from '../protocol-texts.ts';
import { NumberField } from './NumberField.tsx';

interface Props {
  options: JobOptions;
  set: (part: { parity?: JobOptions['parity'] | undefined }) => void;
}

export function Parity({ options: o, set }: Props) {
  const refused = refusedText(o.protocol ?? DEFAULT_PROTOCOL, 'parity');
  return (
    <>
      <NumberField
        label="Checksums of checkpoints"
        hint={
          refused ??
          'Most checkpoints stay with the nodes, and this many tabs may close at once. It spares the disk of the ' +
            'server, not its network. Empty: all checkpoints go to the server'
        }
        least={0}
        most={MAX_CHECKSUMS}
        whole
        usual="0"
        disabled={refused !== undefined}
        value={o.parity?.checksums}
        onChange={(n) => {
          const checksums = Math.min(MAX_CHECKSUMS, Math.round(n));
          set({ parity: checksums >= 1 ? { ...o.parity, checksums } : undefined });
        }}
      />
      {o.parity && (
        <NumberField
          label="One of so many checkpoints goes to the server"
          hint="The others stay with the nodes"

          least={1}
          most={1000}
          whole
          usual={DEFAULT_WHOLE_EVERY}
          value={o.parity.wholeEvery}
          onChange={(every) => {
            const { wholeEvery: _, ...parity } = o.parity!;
            const n = Math.min(1000, Math.round(every));
            set({ parity: n >= 1 ? { ...parity, wholeEvery: n } : parity });
          }}
        />
      )}
    </>
  );
}
