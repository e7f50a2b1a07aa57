/** Entry of the pages: front page, volunteer page, dashboard. */
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
// First of all, whatever page it is: a token in the address is kept before anything else is loaded.
import './dashboard/token.ts';
import { createAppRouter } from './router.tsx';
import './styles/base.css';
import './styles/parts.css';

try {
  sessionStorage.removeItem('mayfly-again'); // index.html: everything has arrived
} catch {
  // Storage is off.
}

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <RouterProvider router={createAppRouter()} />
  </StrictMode>,
);
