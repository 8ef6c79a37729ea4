import { mkdtemp, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { nodeVersion } from '../measures/node-version.ts';
import type { PeersOptions } from '../options.ts';
import type { Table } from '../print-table.ts';
import { bare as bareScript, contenders, type Contender } from './contenders.ts';
import { peersTable, type Round } from './peers-table.ts';
import { runContender, type Sample } from './run-contender.ts';

/** Lote, job queues and the bare script on the same work, one after the other, in each round in the opposite order of the round before. */
export async function runPeersBench({ invoices, rounds, engines, node }: PeersOptions): Promise<Table> {
  const version = nodeVersion(node);
  const all = contenders(node);
  const unknown = engines?.find((name) => !all.some((one) => one.name === name));
  if (unknown !== undefined)
    throw new RangeError(`--engines must name some of ${all.map(({ name }) => name).join(', ')}, found "${unknown}".`);
  const chosen = all.filter(({ name }) => engines?.includes(name) ?? true);
  const directory = await mkdtemp(join(tmpdir(), 'lote-bench-'));
  const loadBefore = loadavg();
  const done: Round[] = [];
  try {
    for (let number = 1; number <= rounds; number += 1)
      done.push(
        await runRound(number % 2 === 1 ? chosen : chosen.toReversed(), {
          ...{ invoices, node, directory: join(directory, String(number)) },
        }),
      );
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
  return peersTable({
    invoices,
    contenders: chosen,
    rounds: done,
    loads: [loadBefore, loadavg()],
    nodeVersion: version,
  });
}

/** The bare script runs first, in the middle and last: the machine may be busier now than before. */
async function runRound(
  order: readonly Contender[],
  { directory, invoices, node }: { readonly directory: string; readonly invoices: number; readonly node: string },
): Promise<Round> {
  const script = bareScript(node);
  const middle = order.length >> 1;
  const bare: Sample[] = [];
  const samples = new Map<string, Sample>();
  for (const [at, contender] of [script, ...order.slice(0, middle), script, ...order.slice(middle), script].entries()) {
    const sample = await runContender(contender, { directory: join(directory, `${at}-${contender.name}`), invoices });
    if (sample === null) {
      process.stderr.write(`${contender.title} is left out: its server is not installed on this machine.\n`);
      continue;
    }
    process.stderr.write(`${contender.name}: ${Math.round((invoices * 1000) / sample.windowMs)} invoices/s\n`);
    if (contender.kind === 'bare') bare.push(sample);
    else samples.set(contender.name, sample);
  }
  return { bare, samples };
}
