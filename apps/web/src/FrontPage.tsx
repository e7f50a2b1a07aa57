/** `/`: what this is, and the two ways in. */
import { Link } from '@tanstack/react-router';
import { Wings } from './shared/Wings.tsx';

export function FrontPage() {
  return (
    <div className="front">
      <title>Mayfly – MPI programs in browser tabs</title>
      <section className="hero">
        <Wings className="wings hero-wings" />
        <h1>A supercomputer made of open tabs</h1>
        <p className="lead">
          Mayfly runs real MPI programs in volunteers’ browser tabs. Tabs come and go; the program does not notice, and
          its answer stays the same.
        </p>
        <p className="ways">
          <Link to="/volunteer" className="button primary big">
            Volunteer this tab
          </Link>
          <Link to="/dashboard" className="button big">
            Dashboard
          </Link>
        </p>
      </section>
      <section className="three" aria-label="How it works">
        <article>
          <h2>Lend a tab</h2>
          <p>
            Nothing to install. While it is open, the tab computes in a sandboxed frame and leaves a core for you. Close
            it at any time.
          </p>
        </article>
        <article>
          <h2>Bring a program</h2>
          <p>
            C, C++ or TypeScript, with blocking calls, collectives, one-sided communication, files and nearly all the
            rest of MPI. Submit it from the dashboard with as many ranks as there are slots.
          </p>
        </article>
        <article>
          <h2>Lose a rank, keep the answer</h2>
          <p>
            By default every message between tabs is logged before it is delivered. A lost rank restarts in another tab
            from its last checkpoint and receives the same messages in the same order. The ranks of other tabs keep
            running. <Link to="/lesson">See it happen</Link>.
          </p>
        </article>
      </section>
    </div>
  );
}
