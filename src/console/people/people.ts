import type { Context } from 'hono';
import { actorOf, callerOf } from './caller.ts';
import type { SignIn } from './sign-in.ts';

/** Something that a person or a program did, for the audit. */
export interface NotedByConsole {
  readonly who: string;
  /** A word of `texts.audit.actions`. */
  readonly what: 'start' | 'reconcile' | 'download';
  readonly why: string;
}

/** Sign-in by a proxy, and where its people's acts are written down. */
export interface People {
  readonly signIn: SignIn;
  /** Into the audit of a batch. @throws LoteError `ledger-unavailable` */
  readonly note: (batchId: string, action: NotedByConsole) => Promise<void>;
}

/**
 * Writes into the audit who does something; called before it is done, what cannot be written down is not done. Nothing while sign-in is off.
 * @throws LoteError `ledger-unavailable`
 */
export async function noteAct(
  context: Context,
  people: People | undefined,
  batchId: string,
  act: Omit<NotedByConsole, 'who'>,
): Promise<void> {
  if (people === undefined || callerOf(context).kind === 'anybody') return;
  await people.note(batchId, { ...act, who: actorOf(context) });
}

/**
 * Writes into the audit of each batch that its invoices are saved from a search. The search words are not written: they may name a person.
 * @throws LoteError `ledger-unavailable`
 */
export async function noteFound(
  context: Context,
  people: People | undefined,
  { found }: { readonly found: readonly { readonly batchId: string }[] },
  why: string,
): Promise<void> {
  const batches = new Set(found.map(({ batchId }) => batchId));
  await Promise.all([...batches].map(async (batchId) => noteAct(context, people, batchId, { what: 'download', why })));
}
