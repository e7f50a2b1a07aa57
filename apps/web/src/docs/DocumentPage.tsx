/** `/docs/<name>`: one document of docs/, made into HTML by the build (markdown.ts); each is a chunk of its own. */
import { useParams, useRouter } from '@tanstack/react-router';
import { useEffect, useState, type MouseEvent } from 'react';
import { documents } from 'virtual:documents';
import { DOCUMENTS, type DocumentText as Text } from './documents.ts';
import { Missing } from '../shared/Frame.tsx';

export function DocumentPage() {
  const { name } = useParams({ from: '/docs/$name' });
  const entry = DOCUMENTS.find((d) => d.name === name);
  return entry ? <Document key={name} name={name} fallback={entry.title} /> : <Missing />;
}

function Document({ name, fallback }: { name: string; fallback: string }) {
  const router = useRouter();
  const [text, setText] = useState<Text>();
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    let here = true;
    documents[name]!().then(
      (t) => here && setText(t),
      () => here && setFailed(true),
    );
    return () => {
      here = false;
    };
  }, [name]);
  useEffect(() => {
    // The anchor was not there yet when the browser looked for it.
    if (text && location.hash) document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView();
  }, [text]);
  const follow = (e: MouseEvent) => {
    const link = (e.target as Element).closest('a[href^="/"]');
    if (!link || e.button !== 0 || e.metaKey || e.ctrlKey || e.shiftKey || e.altKey) return;
    e.preventDefault();
    router.history.push(link.getAttribute('href')!);
  };
  return (
    <article className="document">
      <title>{`${text?.title ?? fallback} – Mayfly`}</title>
      {failed && (
        <p className="notice tone-bad" role="alert">
          Could not load the text; the server does not answer.
        </p>
      )}
      {text && text.sections.length > 3 && (
        <details className="sections">
          <summary>On this page</summary>
          <ul>
            {text.sections.map((s) => (
              <li key={s.id}>
                <a href={`#${s.id}`}>{s.text}</a>
              </li>
            ))}
          </ul>
        </details>
      )}
      {text ? (
        <div className="text" onClick={follow} dangerouslySetInnerHTML={{ __html: text.html }} />
      ) : (
        <h1>{fallback}</h1>
      )}
    </article>
  );
}
