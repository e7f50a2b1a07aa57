/** The sandboxed frames, one per job: documents of an opaque origin in which strangers' programs run. */
/** For the document of a frame to load, ms: a busy machine needs its time, and a second frame would need more of it. */
const LOAD_MS = 60_000;
/** From there to its first message, ms. A document that could not be loaded has an event `load`, too. */
const READY_MS = 10_000;
const ATTEMPTS = 3;

export class Frames {
  private readonly frames = new Map<number, HTMLIFrameElement>();

  constructor(
    private readonly server: string,
    private readonly onDeath: (frame: number, why: string) => void,
  ) {
    addEventListener('message', this.listen);
  }

  private readonly listen = (event: MessageEvent<{ type?: string; why?: string }>): void => {
    if (event.data?.type !== 'mayfly:dead') return;
    for (const [id, f] of this.frames)
      if (f.contentWindow === event.source) this.onDeath(id, event.data.why ?? 'the frame crashed');
  };

  /** The port leads to the frame's comm worker. */
  async open(id: number): Promise<MessagePort> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.attempt(id);
      } catch (e) {
        this.close(id);
        if (attempt === ATTEMPTS) throw e;
      }
    }
  }

  private attempt(id: number): Promise<MessagePort> {
    const frame = document.createElement('iframe');
    frame.setAttribute('sandbox', 'allow-scripts');
    frame.setAttribute('allow', 'cross-origin-isolated');
    frame.title = 'A job of this volunteer';
    frame.tabIndex = -1;
    frame.setAttribute('aria-hidden', 'true');
    // Not display:none, which some engines throttle.
    frame.style.cssText =
      'position:absolute;width:1px;height:1px;border:0;left:-10px;top:-10px;opacity:0;pointer-events:none';
    // In the widget its ancestors belong to another site. The server then sends a policy without them.
    frame.src = `${this.server}/frame/index.html${window.top === window ? '' : '?embedded'}`;
    this.frames.set(id, frame);
    return new Promise((resolve, reject) => {
      const end = (): void => {
        clearTimeout(timer);
        removeEventListener('message', ready);
        frame.removeEventListener('load', loaded);
      };
      const late = (): void => {
        end();
        reject(new Error('the sandboxed frame did not load'));
      };
      let timer = setTimeout(late, LOAD_MS);
      const loaded = (): void => {
        clearTimeout(timer);
        timer = setTimeout(late, READY_MS);
      };
      frame.addEventListener('load', loaded);
      const ready = (event: MessageEvent<{ type?: string; why?: string }>): void => {
        if (event.source !== frame.contentWindow) return;
        if (event.data?.type === 'mayfly:dead') {
          end();
          reject(new Error(event.data.why));
        }
        if (event.data?.type !== 'mayfly:ready') return;
        end();
        const { port1, port2 } = new MessageChannel();
        // The frame's origin is opaque: there is no origin to name.
        frame.contentWindow!.postMessage({ type: 'mayfly:frame', server: this.server }, '*', [port2]);
        resolve(port1);
      };
      addEventListener('message', ready);
      document.body.append(frame);
    });
  }

  close(id: number): void {
    this.frames.get(id)?.remove();
    this.frames.delete(id);
  }

  closeAll(): void {
    for (const id of [...this.frames.keys()]) this.close(id);
    removeEventListener('message', this.listen);
  }
}
