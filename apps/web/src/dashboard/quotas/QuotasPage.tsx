/** `/dashboard/quotas`: what each owner uses and may use. An owner's token sets limits; any other sees its own row. */
import type { QuotaView, QuotaWish } from '@mayfly/wire';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { Input, Label, TextField } from 'react-aria-components';
import { bytes, count } from '../../shared/format.ts';
import { getQuota, getQuotas, setQuota } from '../api.ts';
import { useMay, useMe } from '../context.tsx';
import { Problem } from '../Problem.tsx';
import './quotas.css';
import { limitOf, wishOf, type Typed } from './typed-limits.ts';

export function QuotasPage() {
  const me = useMe();
  const all = useMay('owner');
  const quotas = useQuery({
    queryKey: ['quotas', all],
    queryFn: async () => (all ? getQuotas() : [await getQuota()]),
    enabled: me !== undefined,
    refetchInterval: 4000,
    retry: false,
  });
  const [edited, setEdited] = useState<string>();
  const chosen = quotas.data?.find((q) => q.owner === edited);
  return (
    <div className="stack">
      <title>Quotas – Mayfly</title>
      <div>
        <h1>Quotas</h1>
        <p className="muted">
          Limits per person or token. Slots count while a job runs, jobs until they end, storage (input files, output,
          the newest checkpoints) until the job is deleted. A job beyond the slots waits; one beyond the other limits is
          refused.
        </p>
      </div>
      <Problem error={quotas.error} title="Could not load the quotas" />
      {chosen && <Edit key={chosen.owner} quota={chosen} onDone={() => setEdited(undefined)} />}
      {quotas.data && <List quotas={quotas.data} {...(all ? { onEdit: setEdited } : {})} />}
    </div>
  );
}

function List({ quotas, onEdit }: { quotas: readonly QuotaView[]; onEdit?: (owner: string) => void }) {
  return (
    <div className="card scroll-x" tabIndex={0} role="region" aria-label="List of owners">
      <table className="table fixed quota-table">
        <thead>
          <tr>
            <th>Owner</th>
            <th className="c-limit">Slots</th>
            <th className="c-limit">Jobs</th>
            <th className="c-stored">Stored</th>
            {onEdit && (
              <th className="right c-button">
                <span className="visually-hidden">Change</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {quotas.map(({ owner, used, limits, own }) => (
            <tr key={owner}>
              <td className="wraps">
                {owner}
                {own && <span className="muted small"> own limits</span>}
              </td>
              <Used used={used.slots} limit={limits.slots} text={count} />
              <Used used={used.jobs} limit={limits.jobs} text={count} />
              <Used used={used.bytes} limit={limits.bytes} text={bytes} />
              {onEdit && (
                <td className="right">
                  <button className="button small" type="button" onClick={() => onEdit(owner)}>
                    Change<span className="visually-hidden"> the limits of {owner}</span>
                  </button>
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Used({ used, limit, text }: { used: number; limit: number | undefined; text: (n: number) => string }) {
  return (
    <td>
      {text(used)}
      {limit === undefined ? (
        <span className="muted small wide-only"> no limit</span>
      ) : (
        <span className={used >= limit ? '' : 'muted'}> of {text(limit)}</span>
      )}
    </td>
  );
}

const FIELDS = [
  ['slots', 'Slots at once'],
  ['jobs', 'Jobs at once'],
  ['bytes', 'Stored, MB'],
] as const;

function Edit({ quota, onDone }: { quota: QuotaView; onDone: () => void }) {
  const [typed, setTyped] = useState<Typed>(() => ({
    slots: limitOf(quota.own?.slots),
    jobs: limitOf(quota.own?.jobs),
    bytes: limitOf(quota.own?.bytes, 1e6),
  }));
  const client = useQueryClient();
  const wish = wishOf(typed);
  const save = useMutation({
    mutationFn: (w: QuotaWish) => setQuota(quota.owner, w),
    onSuccess: () => {
      onDone();
      return client.invalidateQueries({ queryKey: ['quotas'] });
    },
  });
  const send = (e: FormEvent) => {
    e.preventDefault();
    if (wish) save.mutate(wish);
  };
  return (
    <form className="card" aria-label={`Limits of ${quota.owner}`} onSubmit={send}>
      <h2>Limits of {quota.owner}</h2>
      <div className="row end">
        {FIELDS.map(([kind, label]) => (
          <TextField
            key={kind}
            className="field grow"
            value={typed[kind]}
            onChange={(value) => setTyped((t) => ({ ...t, [kind]: value }))}
          >
            <Label>{label}</Label>
            <Input placeholder="as for all owners" autoComplete="off" />
          </TextField>
        ))}
        <button className="button primary" type="submit" disabled={!wish || save.isPending}>
          Save
        </button>
        <button className="button ghost" type="button" onClick={onDone}>
          Cancel
        </button>
      </div>
      <p className="muted small">
        {wish
          ? 'Empty: the default limit. “none”: unlimited. Running jobs are not affected.'
          : 'Type whole numbers, “none”, or nothing.'}
      </p>
      <Problem error={save.error} title="Could not save the limits" />
    </form>
  );
}
