/**
 * Copies a text. Where the browser gives pages no clipboard (without HTTPS), or refuses it, the text is selected
 * instead, and the button says so.
 */
import { useState, type RefObject } from 'react';
import { Button } from 'react-aria-components';

export function CopyButton({
  text,
  label,
  where,
}: {
  text: string;
  label: string;
  /** What shows the text. */ where: RefObject<HTMLElement | null>;
}) {
  const [done, setDone] = useState<'copied' | 'selected'>();
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setDone('copied');
    } catch {
      if (where.current) getSelection()?.selectAllChildren(where.current);
      setDone('selected');
    }
  };
  return (
    <Button className="button small" onPress={() => void copy()}>
      {done === 'copied' ? 'Copied' : done === 'selected' ? 'Selected: copy it by keyboard or menu' : label}
    </Button>
  );
}
