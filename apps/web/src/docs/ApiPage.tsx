/**
 * `/docs/api`: the REST interface for people, made of /openapi.json by this page alone (nothing is loaded from
 * elsewhere).
 */
import { useEffect, useState } from 'react';
import { curl, groups, inWords, nameOfRef, type Document, type Route, type Schema } from './openapi.ts';
import './api.css';

export function ApiPage() {
  const [doc, setDoc] = useState<Document>();
  const [failed, setFailed] = useState(false);
  const [wanted, setWanted] = useState('');
  useEffect(() => {
    let here = true;
    fetch('/openapi.json')
      .then((r) => (r.ok ? (r.json() as Promise<Document>) : Promise.reject(new Error(String(r.status)))))
      .then((d) => here && setDoc(d))
      .catch(() => here && setFailed(true));
    return () => {
      here = false;
    };
  }, []);
  return (
    <div className="stack api">
      <title>API – Mayfly</title>
      <div>
        <h1>REST API</h1>
        <p className="muted">
          Everything that the dashboard and the command line do. The same as a document for programs:{' '}
          <a href="/openapi.json">/openapi.json</a> (OpenAPI 3.1).
        </p>
      </div>
      {failed && (
        <p className="notice tone-bad" role="alert">
          Could not load the description; the server does not answer.
        </p>
      )}
      {doc && (
        <>
          <p>
            {doc.info.description} Version {doc.info.version}.
          </p>
          <input
            className="in"
            type="search"
            aria-label="Search the routes"
            placeholder="Search: cancel, stdout, tokens …"
            value={wanted}
            onChange={(e) => setWanted(e.target.value)}
          />
          {groups(doc, wanted).map(([tag, routes]) => (
            <section key={tag} aria-labelledby={`tag-${tag}`} className="stack">
              <h2 id={`tag-${tag}`}>{tag[0]!.toUpperCase() + tag.slice(1)}</h2>
              <div className="card flush">
                {routes.map((r) => (
                  <OneRoute key={r.operationId} route={r} />
                ))}
              </div>
            </section>
          ))}
          <section className="stack" aria-labelledby="schemas">
            <h2 id="schemas">Shapes</h2>
            <div className="card flush">
              {Object.entries(doc.components.schemas).map(([name, schema]) => (
                <details key={name} id={`schema-${name}`} className="route">
                  <summary>
                    <strong className="mono">{name}</strong>
                  </summary>
                  <div className="route-body">
                    {schema.description && <p>{prose(schema.description)}</p>}
                    <Properties schema={schema} />
                  </div>
                </details>
              ))}
            </div>
          </section>
        </>
      )}
    </div>
  );
}

function OneRoute({ route: r }: { route: Route }) {
  const [open, setOpen] = useState(false);
  return (
    <details id={r.operationId} className="route" onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary>
        <span className={`verb verb-${r.method.toLowerCase()}`}>{r.method}</span>
        <span className="mono break">{r.path}</span>
        <span className="muted small">{prose(r.summary)}</span>
      </summary>
      {open && (
        <div className="route-body">
          <p>{prose(r.description)}</p>
          {r.parameters && r.parameters.length > 0 && (
            <>
              <h3>Parameters</h3>
              <dl className="pairs">
                {r.parameters.map((p) => (
                  <div key={p.name}>
                    <dt className="mono">
                      {p.name}
                      {!p.required && <span className="muted"> (may be left out)</span>}
                    </dt>
                    <dd>
                      {prose(p.description)} <span className="muted small">{inWords(p.schema)}</span>
                    </dd>
                  </div>
                ))}
              </dl>
            </>
          )}
          <h3>Request</h3>
          {Object.values(r.requestBody?.content ?? {}).map((m, i) => (
            <p key={i}>
              Body: <Shape schema={m.schema} />
            </p>
          ))}
          <Code text={curl(r, location.origin)} label={`${r.summary}: the request as a command`} />
          <h3>Answers</h3>
          {Object.entries(r.responses).map(([status, a]) => {
            const media = Object.values(a.content ?? {})[0];
            const good = status.startsWith('2');
            return (
              <div key={status} className="answer">
                <p>
                  <strong className={good ? 'good' : 'bad'}>{status}</strong>{' '}
                  {good ? <Shape schema={media?.schema} /> : <span className="small">{a.description}</span>}
                </p>
                {good && media?.example !== undefined && (
                  <Code text={JSON.stringify(media.example, null, 2)} label={`${r.summary}: an answer`} />
                )}
              </div>
            );
          })}
        </div>
      )}
    </details>
  );
}

function Shape({ schema }: { schema: Schema | undefined }) {
  const name = nameOfRef(schema) ?? nameOfRef(schema?.items);
  const words = inWords(schema);
  return name === undefined ? (
    <span className="muted">{words}</span>
  ) : (
    <a
      href={`#schema-${name}`}
      onClick={() => {
        const target = document.getElementById(`schema-${name}`);
        if (target instanceof HTMLDetailsElement) target.open = true;
      }}
    >
      {words}
    </a>
  );
}

function Properties({ schema }: { schema: Schema }) {
  if (schema.anyOf && !schema.properties) {
    return (
      <ol>
        {schema.anyOf.map((s, i) => (
          <li key={i}>
            <Properties schema={s} />
          </li>
        ))}
      </ol>
    );
  }
  return (
    <dl className="pairs">
      {Object.entries(schema.properties ?? {}).map(([name, s]) => (
        <div key={name}>
          <dt className="mono">
            {name}
            {!schema.required?.includes(name) && <span className="muted"> ?</span>}
          </dt>
          <dd>
            {s.properties ? (
              <Properties schema={s} />
            ) : s.items?.properties ? (
              <Properties schema={s.items} />
            ) : (
              <Shape schema={s} />
            )}
            {s.description && <> {prose(s.description)}</>}
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** Scrolls by itself, also with the keyboard. */
function Code({ text, label }: { text: string; label: string }) {
  return (
    <pre className="block" tabIndex={0} role="region" aria-label={label}>
      {text}
    </pre>
  );
}

/** What stands between backticks is code. */
const prose = (text: string | undefined) =>
  text?.split('`').map((part, i) => (i % 2 === 1 ? <code key={i}>{part}</code> : part));
