import { AsyncLocalStorage } from 'node:async_hooks';

/** A person who has waited for so long without a word looks for a fault. */
const SAID_AFTER_MS = 5_000;
/** Many questions may wait for one thing, one after the other. */
const SAID_AGAIN_AFTER_MS = 60_000;

type Say = (what: string) => void;

const speaker = new AsyncLocalStorage<Say>();

/** Says what is waited for in `work`, and in all that it starts, for longer than 5 s. */
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

/** Waits, and names what is waited for where it takes longer than 5 s. */
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
