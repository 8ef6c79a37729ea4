import { randomUUID } from 'node:crypto';
import type { People } from '../../console/people/people.ts';
import type { OperatingLedger } from '../../domain/ports/ledger/operating-ledger.ts';
import type { SignInConfig } from '../../runtime/config/config.ts';

/** Who is signed in, and the audit of the ledger that gets their names. */
export function consolePeople(signIn: SignInConfig, ledger: Pick<OperatingLedger, 'noteActions'>): People {
  return {
    signIn,
    note: (batchId, action) => ledger.noteActions(batchId, [{ ...action, actionId: randomUUID(), at: Date.now() }]),
  };
}
