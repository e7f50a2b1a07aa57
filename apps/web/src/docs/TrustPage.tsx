/**
 * `/docs/trust`: what a volunteer could falsify, and what a submitter can do about it. In short; docs/trust.md has all
 * of it.
 */
import { Link } from '@tanstack/react-router';

export function TrustPage() {
  return (
    <article className="narrow stack">
      <title>Trust – Mayfly</title>
      <h1>Whom do you trust with a job?</h1>
      <p>Jobs run on strangers’ machines. The owner of a machine controls what runs on it.</p>
      <h2>What a volunteer could do to the ranks there</h2>
      <ul>
        <li>
          <strong>Compute something else:</strong> send false messages, output or result files, or store a false
          checkpoint from which the rank then resumes elsewhere.
        </li>
        <li>
          <strong>Read</strong> the program, its arguments, all input files and the messages of these ranks. Send no
          secrets.
        </li>
        <li>
          <strong>Stop or delay</strong> them. That costs time, but the job continues elsewhere.
        </li>
      </ul>
      <p>
        A volunteer cannot act for other ranks or jobs or for a rank that the server took away, submit jobs, or end a
        job by reporting crashes or lost logs: the server checks such reports. Checksums and hashes detect damage, but
        not deliberate falsification.
      </p>
      <h2>What you can do about it</h2>
      <ul>
        <li>
          <strong>Own nodes.</strong> Open a <Link to="/dashboard/rooms">room</Link>, keep its code, and run{' '}
          <code>mayfly volunteer … --room CODE</code> on your own machines (for programs in TypeScript with{' '}
          <code>--allow-typescript</code>, or <code>--browser</code>). Only this also keeps the data private.
        </li>
        <li>
          <strong>A room of people you know.</strong>
        </li>
        <li>
          <strong>Run it twice and compare:</strong> <code>mayfly verify JOB</code>, or <em>Run again and compare</em>{' '}
          on the job’s page, runs the same job again and compares all output byte for byte. If the output is equal,
          nobody falsified only one of the runs; volunteers who falsify both runs in the same way are not detected. If
          it differs, somebody falsified a run, or the program is not deterministic (times, messages from any source).
        </li>
        <li>
          <strong>Check the result:</strong> a residual or a checksum that is cheap to test, on a machine of your own.
        </li>
      </ul>
      <h2>What Mayfly does not do</h2>
      <p>
        It does not vote among copies of a rank, check results, or encrypt a job’s data against the volunteers who
        compute it.
      </p>
    </article>
  );
}
