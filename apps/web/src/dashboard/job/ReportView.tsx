/** The report of this run: as JSON, as a page, and whether others may read it. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { clock } from '../../shared/format.ts';
import { getReport, getShare, saveBlob, shareReport } from '../api.ts';
import { useMayChange } from '../context.tsx';
import { Problem } from '../Problem.tsx';
import { Report } from '../../report/Report.tsx';
import { hasEnded } from '../status-texts.ts';
import type { ViewProps } from './view-props.ts';

export function ReportView({ job }: ViewProps) {
  const client = useQueryClient();
  const [begun] = useState(!hasEnded(job.state));
  const mayShare = useMayChange(job);
  // Made when it is asked for: it does not grow under its reader's eyes.
  const report = useQuery({
    queryKey: ['report', job.id],
    queryFn: () => getReport(job.id),
    staleTime: 0,
    gcTime: 0,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
  const shared = useQuery({ queryKey: ['shared', job.id], queryFn: () => getShare(job.id) });
  const share = useMutation({
    mutationFn: (on: boolean) => shareReport(job.id, on),
    onSuccess: () => client.invalidateQueries({ queryKey: ['shared', job.id] }),
  });
  const address = `${location.origin}/report/${job.id}`;
  return (
    <>
      <div className="card">
        <label className="check">
          <input
            type="checkbox"
            checked={shared.data?.shared ?? false}
            disabled={shared.data === undefined || !mayShare || share.isPending}
            onChange={(e) => share.mutate(e.target.checked)}
          />
          <span>
            Share this report: anyone with the link can read it without a token. It contains the program’s name,
            arguments and purpose, and the names, sizes and hashes of its files. It does not contain names of
            volunteers, output or error messages.
          </span>
        </label>
        <p className="small break" data-testid="share-link" aria-live="polite">
          {shared.data?.shared === true ? (
            <a href={address}>{address}</a>
          ) : (
            <span className="muted">Not shared: only people with a token of this server can read it.</span>
          )}
        </p>
        <div className="row">
          <Link to="/report/$id" params={{ id: job.id }} className="button small">
            Open as a page
          </Link>
          <button
            className="button small"
            disabled={!report.data}
            onClick={() =>
              saveBlob(
                new Blob([JSON.stringify(report.data, null, 2)], { type: 'application/json' }),
                `${job.name}-report.json`,
              )
            }
          >
            Download as JSON
          </button>
        </div>
        <Problem error={share.error ?? shared.error} />
      </div>
      {begun && (
        <p className="row small">
          <button className="button small" disabled={report.isFetching} onClick={() => void report.refetch()}>
            Regenerate
          </button>
          <span className="muted num">{report.data ? `As of ${clock(report.dataUpdatedAt)}.` : '\u00a0'}</span>
        </p>
      )}
      {report.data ? (
        <Report report={report.data} />
      ) : (
        <Problem error={report.error} title="Could not load the report" />
      )}
    </>
  );
}
