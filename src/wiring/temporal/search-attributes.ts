import type { Client, Connection } from '@temporalio/client';
import type { Logger } from '../../runtime/process/logger.ts';

/** By which batches are found in Temporal's own list; nothing of them names anybody. Numbers are those of the server's IndexedValueType. */
const ATTRIBUTES = { LoteBatch: 2, LoteState: 2, LoteProblems: 3 } as const;
const NAMES = Object.keys(ATTRIBUTES);
/** Answered only where all three are registered. */
const PROBE = "LoteBatch = 'none' AND LoteState = 'none' AND LoteProblems = 0";

/**
 * Registers the search attributes where they are missing. A server that does not let us is said so of, once, and batches run without them: false.
 * An attribute that is missing, or has another type, would otherwise stop every batch at its first step.
 */
export async function ensureSearchAttributes(client: Client, log: Pick<Logger, 'warn'>): Promise<boolean> {
  // Clients of Lote are made on connections of the SDK's own kind (connect-client.ts).
  const { operatorService } = client.connection as Connection;
  const { namespace } = client.options;
  try {
    const known = (await operatorService.listSearchAttributes({ namespace })).customAttributes;
    const missing = Object.entries(ATTRIBUTES).filter(([name]) => !(name in known));
    const others = Object.entries(ATTRIBUTES).filter(([name, type]) => name in known && known[name] !== type);
    if (others.length > 0) {
      log.warn('search attributes have other types on this server; batches run without them', {
        names: others.map(([name]) => name),
      });
      return false;
    }
    if (missing.length > 0)
      await operatorService.addSearchAttributes({ namespace, searchAttributes: Object.fromEntries(missing) });
    return true;
  } catch (err) {
    // A server may keep its operator's side to itself and have them all the same.
    if (await isAnswered(client)) return true;
    log.warn('search attributes cannot be registered; batches run without them', { names: NAMES, err });
    return false;
  }
}

async function isAnswered(client: Client): Promise<boolean> {
  try {
    await client.workflow.count(PROBE);
    return true;
  } catch {
    return false;
  }
}
