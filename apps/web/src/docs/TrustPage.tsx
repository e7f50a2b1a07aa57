/** `/docs/trust`: what a volunteer could falsify, and what a submitter can do about it. In short; docs/trust.md has all of it. */
import { Link } from '@tanstack/react-router';

export function TrustPage() {
  return (
    <article className="narrow stack">
      <title>Trust – Mayfly</title>
      <h1>Whom you trust with a job</h1>
      <p>Jobs run on strangers’ machines. Whoever controls the machine controls what runs on it.</p>
      <h2>What a volunteer could do to the ranks there</h2>
      <ul>
        <li>
          <strong>Compute something else:</strong> false messages, false output and result files, a false checkpoint image from which the rank then goes on elsewhere.
        </li>
        <li>
          <strong>Read</strong> the program, its arguments, all input files and the messages of these ranks. Send no secrets.
        </li>
        <li>
          <strong>Stop or delay</strong> them. That costs time; the job goes on elsewhere.
        </li>
      </ul>
      <p>
        A volunteer cannot act for other ranks or other jobs, nor for a rank that was taken away, nor submit anything, nor end a job by reporting crashes or lost logs: the server checks such reports. Checksums and hashes find damage; they do not find a lie.
      </p>
      <h2>What you can do about it</h2>
      <ul>
        <li>
          <strong>Own nodes.</strong> Open a <Link to="/dashboard/rooms">room</Link>, keep its code, and run <code>mayfly volunteer … --room CODE</code> on your own machines (for programs in TypeScript with <code>--allow-typescript</code>, or <code>--browser</code>). This alone also keeps the data to yourself.
        </li>
        <li>
          <strong>A room of people you know.</strong>
        </li>
        <li>
          <strong>Run it twice and compare:</strong> <code>mayfly verify JOB</code>, or <em>Run again and compare</em> on the job’s page, runs the same job again and compares all output byte for byte. Equal means that nobody falsified one run alone; the same liars in both
          runs, lying the same way, are not found. Different means a lie, or a program that is not the same twice (times, messages from any source).
        </li>
        <li>
          <strong>Check the result:</strong> a residual or a checksum that is cheap to test, on a machine of your own.
        </li>
      </ul>
      <h2>What is not there</h2>
      <p>No voting among copies of a rank, no check of results, no encryption of a job’s data against those who compute it.</p>
    </article>
  );
}
