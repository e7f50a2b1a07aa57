/**
 * `/report/:id`: the report of a run, to share. Without a token while its owner shares it; else with the token
 * that this browser has, as others would see it.
 */
import { publicReport, type JobReport } from '@mayfly/wire';
import { useParams } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { ApiFailure, getReport, getSharedReport } from '../dashboard/api.ts';
import { isSignedIn } from '../dashboard/token.ts';
import { Report } from './Report.tsx';

export function ReportPage() {
  const { id } = useParams({ from: '/report/$id' });
  const [report, setReport] = useState<JobReport | ApiFailure>();
  const [shared, setShared] = useState(true);
  useEffect(() => {
    let here = true;
    const failure = (e: unknown) => (e instanceof ApiFailure ? e : new ApiFailure(0, 'ERROR', String(e)));
    const read = async () => {
      const open = await getSharedReport(id).catch(failure);
      const mine =
        open instanceof ApiFailure && open.status === 404 && isSignedIn()
          ? await getReport(id).catch(() => undefined)
          : undefined;
      if (!here) return;
      setShared(mine === undefined);
      setReport(mine ? publicReport(mine) : open);
    };
    void read();
    return () => void (here = false);
  }, [id]);
  if (report === undefined) return <p className="muted">Reading the report…</p>;
  if (report instanceof ApiFailure)
    return (
      <section className="narrow">
        <title>No report – Mayfly</title>
        <h1>No report here</h1>
        <p className="muted">
          {report.status === 404 || report.status === 400
            ? 'This job does not exist, or its owner does not share its report.'
            : report.message}
        </p>
      </section>
    );
  return (
    <article className="stack">
      <title>{`Report: ${report.job.name} – Mayfly`}</title>
      <div className="row apart">
        <h1>Report of “{report.job.name}”</h1>
        <button className="button small no-print" onClick={() => print()}>
          Print
        </button>
      </div>
      {!shared && (
        <p className="muted small no-print">Not shared: only people with a token of this server can see this page.</p>
      )}
      <Report report={report} />
    </article>
  );
}
