import type { Ledger } from '../../../src/domain/ports/ledger.ts';
import type { OpenLedger } from './scenario.ts';

/** One ledger for a whole test file: each test has an application of its own, and a database is slow to make. */
export function sharedLedger(open: OpenLedger): { readonly open: OpenLedger; close(): Promise<void> } {
  let opened: Promise<Ledger> | null = null;
  return {
    open: () => (opened ??= open()),
    async close() {
      await (await opened)?.close();
    },
  };
}
