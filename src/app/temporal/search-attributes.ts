import type { Client, Connection } from '@temporalio/client';
import type { Logger } from '../process/logger.ts';

/** Attributes that find batches in Temporal's own list; they name no person. The numbers are the server's IndexedValueType. */
const ATTRIBUTES: Readonly<Record<string, number>> = { LoteBatch: 2, LoteState: 2, LoteProblems: 3 };

/** The server answers this query only if all three are registered. */
const PROBE = "LoteBatch = 'none' AND LoteState = 'none' AND LoteProblems = 0";

/**
 * Registers missing search attributes. If the server refuses or has one with another type, logs that once and returns
 * false, and batches run without them, because otherwise every batch would stop at its first step.
 */
export async function ensureSearchAttributes(client: Client, log: Pick<Logger, 'warn'>): Promise<boolean> {
  const without = 'search attributes cannot be registered; batches run without them';
  try {
    const { missing, ofOtherTypes } = await searchAttributesOf(client);
    if (ofOtherTypes.length > 0) log.warn(without, { ofOtherTypes: ofOtherTypes.join(', ') });
    else if (missing.length > 0)
      await operatorServiceOf(client).addSearchAttributes({
        namespace: client.options.namespace,
        searchAttributes: Object.fromEntries(missing.map((name) => [name, ATTRIBUTES[name] ?? 0])),
      });
    return ofOtherTypes.length === 0;
  } catch (err) {
    // A server may refuse operator calls and still have the attributes.
    const isAnswered = await client.workflow.count(PROBE).catch(() => null);
    if (isAnswered === null) log.warn(without, { err });
    return isAnswered !== null;
  }
}

/** Lists the search attributes that the namespace lacks or has with another type. */
export async function searchAttributesOf(client: Client) {
  const { namespace } = client.options;
  const known = (await operatorServiceOf(client).listSearchAttributes({ namespace })).customAttributes;
  const names = Object.keys(ATTRIBUTES);
  return {
    missing: names.filter((name) => !(name in known)),
    ofOtherTypes: names.filter((name) => name in known && known[name] !== ATTRIBUTES[name]),
  };
}

/** The cast is safe: Lote makes its clients on the SDK's own connections (temporal-connection.ts). */
function operatorServiceOf(client: Client): Connection['operatorService'] {
  return (client.connection as Connection).operatorService;
}
