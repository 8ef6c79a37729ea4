import type { Change, SandboxStore } from './store/sandbox-store.ts';

/** Writes changes to the store, many callers to one transaction. */
export interface WriteBatcher {
  /** Resolves when these changes are durable. */
  commit(changes: readonly Change[]): Promise<void>;
  /** Resolves when nothing waits to be written. */
  drain(): Promise<void>;
}

interface Entry {
  readonly changes: readonly Change[];
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** A group commit: what arrives while a transaction runs goes into the next one. */
export function createWriteBatcher(store: Pick<SandboxStore, 'write'>): WriteBatcher {
  let waiting: Entry[] = [];
  let writing: Promise<void> | null = null;

  async function writeAll(): Promise<void> {
    // One turn of the event loop, so that requests that came together share a transaction.
    await new Promise(setImmediate);
    while (waiting.length > 0) {
      const group = waiting;
      waiting = [];
      try {
        await store.write(group.flatMap((entry) => entry.changes));
        for (const entry of group) entry.resolve();
      } catch (error) {
        for (const entry of group) entry.reject(error);
      }
    }
    writing = null;
  }

  return {
    commit(changes) {
      return new Promise((resolve, reject) => {
        waiting.push({ changes, resolve, reject });
        writing ??= writeAll();
      });
    },
    async drain() {
      while (writing !== null) await writing;
    },
  };
}
