/** A button that asks before it does what cannot be undone. */
import { Button, Dialog, DialogTrigger, Heading, Modal, ModalOverlay } from 'react-aria-components';

interface Question {
  label: string;
  title: string;
  text: string;
  yes: string;
  no: string;
  busy: boolean;
  small?: boolean;
  onYes: () => void;
}

export function Confirm(q: Question) {
  return (
    <DialogTrigger>
      <Button className={`button danger${q.small ? ' small' : ''}`} isDisabled={q.busy}>
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
                  <Button
                    className="button danger"
                    onPress={() => {
                      q.onYes();
                      close();
                    }}
                  >
                    {q.yes}
                  </Button>
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
