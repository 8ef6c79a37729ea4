import type { Ledger } from '../../domain/ports/ledger/ledger.ts';
import type { SendingMark } from '../../domain/ports/ledger/sending-mark-ledger.ts';
import { gapSince, highestOf, type ScopedWitness, type Witness } from './sending-witness.ts';

/** Marks that the ledger does not know: invoices may have been sent since this time (epoch milliseconds; 0: nobody knows since when). */
export interface Gap {
  /** As the ledger notes it for the account that asks. */
  readonly ledgerId: string;
  readonly since: number;
  readonly number: number;
}

interface Asked {
  readonly ledger: Pick<Ledger, 'id' | 'ownSendingMarks'>;
  /** The account that asks. */
  readonly scope: string;
  /** All that stand in its folder, read before the marks. */
  readonly witnesses: readonly ScopedWitness[];
  /** What the ledger has noted for that account. */
  readonly marks: readonly SendingMark[];
}

/**
 * What this ledger has sent for other accounts and does not know: the address of the account may have changed since the copy, and its documents are the
 * same. Nobody can tell an account of before from that of another application that shares ledger and folder. Therefore each account notes such a gap for
 * itself, as it does for another ledger, and its confirmation ends it for no other.
 */
export async function gapsElsewhere({ ledger, scope, witnesses, marks }: Asked): Promise<readonly Gap[]> {
  const others = witnesses.filter((one) => one.ledgerId === ledger.id && one.scope !== scope);
  if (others.length === 0) return [];
  const known = await ledger.ownSendingMarks(ledger.id);
  return [...new Set(others.map((one) => one.scope))].flatMap((where) => {
    const its = others.filter((one) => one.scope === where);
    const ledgerId = `${ledger.id}@${where}`;
    const noted = marks.find((mark) => mark.ledgerId === ledgerId)?.number ?? 0;
    return gapOf(ledgerId, its, { noted, known: known.get(where) ?? null });
  });
}

/** `known`: what the ledger has noted for that account itself, whose gap nobody may have confirmed. */
function gapOf(
  ledgerId: string,
  its: readonly Witness[],
  { noted, known }: { readonly noted: number; readonly known: SendingMark | null },
): readonly Gap[] {
  const number = known?.number ?? 0;
  const sinces = [gapSince(its, Math.max(number, noted)), number > noted ? known?.gapSince : null];
  const found = sinces.filter((since) => typeof since === 'number');
  if (found.length === 0) return [];
  return [{ ledgerId, since: Math.min(...found), number: Math.max(number, highestOf(its)) }];
}
