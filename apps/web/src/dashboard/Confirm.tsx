/** A button that asks before it does what cannot be undone, or what has consequences worth a sentence. */
import { Button, Dialog, DialogTrigger, Heading, Modal, ModalOverlay } from 'react-aria-components';

interface Question {
  label: string;
  title: string;
  text: string;
  /** Absent: it cannot be done, and `text` says why. */
  yes?: string | undefined;
  no: string;
  busy: boolean;
  small?: boolean;
  className?: string;
  /** What can be undone does not look dangerous. */
  mild?: boolean;
  onYes: () => void;
}

export function Confirm(q: Question) {
  return (
    <DialogTrigger>
      <Button
        className={`button${q.mild ? '' : ' danger'}${q.small ? ' small' : ''}${q.className === undefined ? '' : ` ${q.className}`}`}
        isDisabled={q.busy}
      >
        {q.label}
      </Button>
      <ModalOverlay className="veil" isDismissable>
        <Modal>
          <Dialog className="dialog" role="alertdialog">
            {({ close }) => (
              <>
                <Heading slot="title" className="dialog-title">
                  {q.title}
                </Heading>
                <p>{q.text}</p>
                <div className="row">
                  {q.yes !== undefined && (
                    <Button
                      className={`button ${q.mild ? 'primary' : 'danger'}`}
                      onPress={() => {
                        q.onYes();
                        close();
                      }}
                    >
                      {q.yes}
                    </Button>
                  )}
                  <Button className="button" onPress={close} autoFocus>
                    {q.no}
                  </Button>
                </div>
              </>
            )}
          </Dialog>
        </Modal>
      </ModalOverlay>
    </DialogTrigger>
  );
}
