import type { Client, Connection } from '@temporalio/client';
import type { Logger } from '../process/logger.ts';

/** Attributes that find batches in Temporal's own list; they name no person. The numbers are the server's IndexedValueType. */
const ATTRIBUTES = { LoteBatch: 2, LoteState: 2, LoteProblems: 3 } as const;
const NAMES = Object.keys(ATTRIBUTES) as readonly AttributeName[];
type AttributeName = keyof typeof ATTRIBUTES;

/** The server answers this query only if all three are registered. */
const PROBE = "LoteBatch = 'none' AND LoteState = 'none' AND LoteProblems = 0";

/**
 * Registers missing search attributes. If the server refuses or has one with another type, logs that once and returns
 * false, and batches run without them, because otherwise every batch would stop at its first step.
 */
export async function ensureSearchAttributes(client: Client, log: Pick<Logger, 'warn'>): Promise<boolean> {
  try {
    const { missing, ofOtherTypes } = await searchAttributesOf(client);
    if (ofOtherTypes.length > 0) {
      log.warn('search attributes have other types on this server; batches run without them', { names: ofOtherTypes });
      return false;
    }
    if (missing.length > 0)
      await operatorServiceOf(client).addSearchAttributes({
        namespace: client.options.namespace,
        searchAttributes: Object.fromEntries(missing.map((name) => [name, ATTRIBUTES[name]])),
      });
    return true;
  } catch (err) {
    // A server may refuse operator calls and still have the attributes.
    if (await isAnswered(client)) return true;
    log.warn('search attributes cannot be registered; batches run without them', { names: NAMES, err });
    return false;
  }
}

/** Lists the search attributes that the namespace lacks or has with another type. */
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

/** The cast is safe: Lote makes its clients on the SDK's own connections (temporal-connection.ts). */
function operatorServiceOf(client: Client): Connection['operatorService'] {
  return (client.connection as Connection).operatorService;
}

function isAnswered(client: Client): Promise<boolean> {
  return client.workflow.count(PROBE).then(
    () => true,
    () => false,
  );
}
