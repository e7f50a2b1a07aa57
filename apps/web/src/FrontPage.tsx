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
          Mayfly runs real MPI programs in the browsers of whoever opens this page. Tabs come and go; a program does not notice, and ends
          with the very answer that it would have had.
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
          <h2>Give a tab</h2>
          <p>Nothing to install. The tab computes in a sealed frame while it is open, and leaves a core for you. Close it whenever you like.</p>
        </article>
        <article>
          <h2>Bring a program</h2>
          <p>
            C, C++ or TypeScript, as it is: blocking calls, collectives, one-sided, files, nearly all of MPI. Submit it from the
            dashboard with as many ranks as there are slots.
          </p>
        </article>
        <article>
          <h2>Lose a rank, keep the answer</h2>
          <p>
            Every message is logged in order before it counts. A rank that vanishes starts again elsewhere from its last image and is fed the
            same messages; the others go on. <Link to="/lesson">See it happen</Link>.
          </p>
        </article>
      </section>
    </div>
  );
}
