/** Why a job failed: message, code and advice; and, once opened, who waits for whom and the stack. */
import type { JobView } from '@mayfly/wire';
import { adviceFor } from '../../advice.ts';
import { headOf, splitStack } from '../../error-text.ts';
import { waitsOf } from './deadlock.ts';
import { Held } from './Held.tsx';
import { WaitPicture } from './WaitPicture.tsx';

/** `late`: the job had failed before one came, and all of its error is open. That of a deadlock always is. */
export function JobError({ error, late }: { error: NonNullable<JobView['error']>; late: boolean }) {
  const { message, stack } = splitStack(error.message);
  const rest = message.split('\n').slice(1);
  const waits = waitsOf(error);
  return (
    <Held tone="bad" id="job-error" label="Why it failed" more opened={late || waits !== undefined}>
      <div role="alert" className="words">
        <strong className="title">{headOf(message)}</strong>
        <p className="small second">
          <span className="code">{error.code}</span> <span className="muted">{adviceFor(error.code)}</span>
        </p>
        <div className="rest">
          {waits && <WaitPicture of={waits} />}
          {rest.length > 0 && <pre className="block">{rest.join('\n')}</pre>}
          {stack !== undefined && (
            <>
              <p className="small">Where it happened</p>
              <pre className="block">{stack}</pre>
            </>
          )}
        </div>
      </div>
    </Held>
  );
}
