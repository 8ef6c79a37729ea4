import type { Client, Connection } from '@temporalio/client';
import type { Logger } from '../process/logger.ts';

/** By which batches are found in Temporal's own list; nothing of them names anybody. Numbers are those of the server's IndexedValueType. */
const ATTRIBUTES = { LoteBatch: 2, LoteState: 2, LoteProblems: 3 } as const;
const NAMES = Object.keys(ATTRIBUTES) as readonly AttributeName[];
type AttributeName = keyof typeof ATTRIBUTES;

/** Answered only where all three are registered. */
const PROBE = "LoteBatch = 'none' AND LoteState = 'none' AND LoteProblems = 0";

/**
 * Registers the search attributes where they are missing. A server that does not let us is said so of, once, and batches run without them: false.
 * An attribute that is missing, or has another type, would otherwise stop every batch at its first step.
 */
export async function ensureSearchAttributes(client: Client, log: Pick<Logger, 'warn'>): Promise<boolean> {
  try {
    const { missing, ofOtherTypes } = await searchAttributesOf(client);
    if (ofOtherTypes.length > 0) {
      log.warn('search attributes have other types on this server; batches run without them', {
        names: ofOtherTypes,
      });
      return false;
    }
    if (missing.length > 0)
      await operatorServiceOf(client).addSearchAttributes({
        namespace: client.options.namespace,
        searchAttributes: Object.fromEntries(missing.map((name) => [name, ATTRIBUTES[name]])),
      });
    return true;
  } catch (err) {
    // A server may keep its operator's side to itself and have them all the same.
    if (await isAnswered(client)) return true;
    log.warn('search attributes cannot be registered; batches run without them', { names: NAMES, err });
    return false;
  }
}

/** Names of the search attributes that the namespace lacks, or has with another type. */
export async function searchAttributesOf(
  client: Client,
): Promise<{ readonly missing: readonly AttributeName[]; readonly ofOtherTypes: readonly AttributeName[] }> {
  const { namespace } = client.options;
  const known = (await operatorServiceOf(client).listSearchAttributes({ namespace })).customAttributes;
  return {
    missing: NAMES.filter((name) => !(name in known)),
    ofOtherTypes: NAMES.filter((name) => name in known && known[name] !== ATTRIBUTES[name]),
  };
}

/** Clients of Lote are made on connections of the SDK's own kind (connect-client.ts). */
function operatorServiceOf(client: Client): Connection['operatorService'] {
  return (client.connection as Connection).operatorService;
}

async function isAnswered(client: Client): Promise<boolean> {
  try {
    await client.workflow.count(PROBE);
    return true;
  } catch {
    return false;
  }
}
