import { StoredState } from './stored-state.ts';
import type { SandboxStore } from './sandbox-store.ts';

/** Books in this process's memory: gone with the process, but not with a sandbox that is closed and started again on them. */
export function memoryStore(): SandboxStore {
  const state = new StoredState();
  const bodies = new Map<string, string>();
  const processing = new Map<string, string>();
  return {
    open: async () => state.books(new Map(processing)),
    async write(changes) {
      for (const change of changes) {
        state.apply(change);
        if (change.kind === 'settlement') processing.delete(change.settlement.invoiceId);
        if (change.kind !== 'invoice') continue;
        bodies.set(change.invoice.id, change.body);
        processing.set(change.invoice.id, change.body);
      }
    },
    async invoiceBody(id) {
      const body = bodies.get(id);
      if (body === undefined) throw new Error(`Reading the body of ${id}: it must have been written, and it was not.`);
      return body;
    },
    close: async () => {},
  };
}
