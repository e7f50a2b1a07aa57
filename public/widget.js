/*
 * The volunteer widget of Mayfly, for other sites:
 *
 *   <script src="https://mayfly.example/widget.js" data-room="ABC234"></script>
 *
 * Puts a frame of the server's page /widget behind this script element. Nothing is computed before the visitor has
 * agreed inside that frame. Which headers the site needs so that it may compute in place: docs/widget.md. Without them
 * the frame offers a small window of its own.
 */
(() => {
  const script = document.currentScript;
  if (!script) return;
  const address = new URL('/widget', script.src);
  for (const key of ['room', 'name']) if (script.dataset[key]) address.searchParams.set(key, script.dataset[key]);
  const frame = document.createElement('iframe');
  frame.src = address.href;
  // Hands down what the embedding page has, if it has it: without this the frame could not have shared memory.
  frame.allow = 'cross-origin-isolated; compute-pressure';
  frame.title = 'Volunteer this tab with Mayfly';
  frame.style.cssText =
    'width:100%;max-width:24rem;height:19rem;border:1px solid #8886;border-radius:12px;color-scheme:light dark';
  script.after(frame);
})();
