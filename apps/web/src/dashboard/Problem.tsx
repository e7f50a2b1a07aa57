/** An error of the API: code, message, what to do. A job's: job/notice. */
import { adviceFor } from './advice.ts';
import { ApiFailure } from './api.ts';

export function Problem({ error, title, children }: { error: unknown; title?: string; children?: React.ReactNode }) {
  if (!error) return null;
  const code = codeOf(error);
  const message = messageOf(error);
  const advice = adviceFor(code);
  const long = message.includes('\n');
  return (
    <div className="notice tone-bad" role="alert">
      <div className="row apart">
        <strong>{title ?? (long ? message.slice(0, message.indexOf('\n')) : message)}</strong>
        <span className="code">{code}</span>
      </div>
      {long ? (
        <pre className="block">{title ? message : message.slice(message.indexOf('\n') + 1)}</pre>
      ) : (
        title && <p>{message}</p>
      )}
      {advice && <p className="muted small">{advice}</p>}
      {children}
    </div>
  );
}

const codeOf = (e: unknown): string => (e instanceof ApiFailure || hasCode(e) ? e.code : 'ERROR');
const messageOf = (e: unknown): string => (e instanceof Error || hasMessage(e) ? e.message : String(e));
const hasCode = (e: unknown): e is { code: string } =>
  typeof e === 'object' && e !== null && 'code' in e && typeof e.code === 'string';
const hasMessage = (e: unknown): e is { message: string } =>
  typeof e === 'object' && e !== null && 'message' in e && typeof e.message === 'string';
