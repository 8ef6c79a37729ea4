import { AsyncLocalStorage } from 'node:async_hooks';

/** After this long without a message, a person looks for a fault. */
const SAID_AFTER_MS = 5_000;
/** Many successive requests may wait for the same part, so Lote names the part again only after this time. */
const SAID_AGAIN_AFTER_MS = 60_000;

type Say = (what: string) => void;

const speaker = new AsyncLocalStorage<Say>();

/** Runs `work`, and says what `work` or anything that it starts has waited for longer than 5 s. */
export function sayingWaits<T>(say: (line: string) => void, work: () => Promise<T>): Promise<T> {
  const said = new Map<string, number>();
  const once: Say = (what) => {
    const now = performance.now();
    if (now - (said.get(what) ?? Number.NEGATIVE_INFINITY) < SAID_AGAIN_AFTER_MS) return;
    said.set(what, now);
    say(`Waiting for ${what} …`);
  };
  return speaker.run(once, work);
}

/** Awaits `wait()`, and names `what` if the wait takes longer than 5 s. */
export async function waitingFor<T>(what: string, wait: () => Promise<T>): Promise<T> {
  const say = speaker.getStore();
  if (say === undefined) return wait();
  const timer = setTimeout(() => say(what), SAID_AFTER_MS).unref();
  try {
    return await wait();
  } finally {
    clearTimeout(timer);
  }
}
