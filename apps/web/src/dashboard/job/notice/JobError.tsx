/** Why a job failed: message, code and advice; and, once opened, who waits for whom and the stack. */
import type { JobView } from '@mayfly/wire';
import { adviceFor } from '../../api.ts';
import { splitStack } from '../../status-texts.ts';
import { Held } from './Held.tsx';

export function JobError({ error, late }: { error: NonNullable<JobView['error']>; late: boolean }) {
  const { message, stack } = splitStack(error.message);
  const [first, ...rest] = message.split('\n');
  return (
    <Held tone="bad" id="job-error" label="Why it failed" more opened={late}>
      <div role="alert" className="words">
        <strong className="title">{first}</strong>
        <p className="small second">
          <span className="code">{error.code}</span> <span className="muted">{adviceFor(error.code)}</span>
        </p>
        <div className="rest">
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
