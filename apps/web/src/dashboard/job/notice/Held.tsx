/**
 * A notice that has its height before it has its words. What is longer is cut, and opened by its reader: nothing opens
 * by itself under the eyes of one who watches.
 */
import { useState, type ReactNode } from 'react';
import { Button } from 'react-aria-components';
import type { Tone } from '../../../shared/tone.ts';
import './notice.css';

interface HeldProps {
  tone: Tone;
  id: string;
  label?: string;
  /** A button of its own, which stands below the words on a narrow page. */
  button?: ReactNode;
  /** There is more than the closed notice shows. */
  more?: boolean;
  /** From the start. */
  opened?: boolean;
  /** All of it is there when the notice is closed, too: the style cuts it, and screen readers have it. */
  children: ReactNode;
}

export function Held({ tone, id, label, button, more = false, opened = false, children }: HeldProps) {
  const [open, setOpen] = useState(opened);
  return (
    <section
      className={`notice tone-${tone} held${button === undefined ? '' : ' below'}${more && !open ? ' closed' : ''}`}
      aria-label={label}
      data-testid={id}
    >
      {children}
      {(button !== undefined || more) && (
        <div className="row nowrap">
          {button}
          {more && (
            <Button className="button small" aria-expanded={open} onPress={() => setOpen(!open)}>
              Details
            </Button>
          )}
        </div>
      )}
    </section>
  );
}
