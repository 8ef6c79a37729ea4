import { randomInt } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Command } from '../../src/domain/machine/invoice-machine.ts';
import { Life, type Watcher } from './histories/life.ts';
import { Broken, PromiseWatcher, type Promised } from './histories/promises.ts';
import { Random } from './histories/random.ts';
import { takeTurn } from './histories/turns.ts';

/**
 * Random histories of one invoice, decided by the machine alone: files dropped again and changed, workers that stall, crash and come back
 * late, answers lost and mixed up, deliveries early and twice, GETs whose answers come late, batches closed and opened again, days that
 * pass, operators, reconciliation, a ledger that is older than what was sent.
 *
 * HISTORIES=100000000 HISTORIES_SEED=1 npx vitest run test/property/invoice-histories.test.ts
 */
const HISTORIES = Number(process.env['HISTORIES'] ?? 1_000_000);
const SEED = Number(process.env['HISTORIES_SEED'] ?? randomInt(1, 2 ** 31));
/** A history has from 4 to 15 turns. */
const SHORTEST = 4;
const MORE_TURNS = 12;
/** Of so many each command is a part. */
const ENOUGH = 100_000;
/** Between two of them the runner is answered. */
const PORTION = 50_000;

/** A command that the machine gets is none of these until it is named here. */
const COMMANDS: Readonly<Record<Command['kind'], true>> = {
  hold: true,
  close: true,
  expire: true,
  release: true,
  repeat: true,
  unfreeze: true,
  freeze: true,
  'hand-out': true,
  take: true,
  'give-up': true,
  'end-repeats': true,
  'sent-without': true,
  doubt: true,
  retry: true,
  stage: true,
  'pass-on': true,
  restore: true,
  record: true,
  hear: true,
  share: true,
  'next-key': true,
};

describe('an invoice in random histories', () => {
  it(`keeps every promise in ${HISTORIES} of them, HISTORIES_SEED=${SEED}`, { timeout: 3_600_000 }, async () => {
    const watcher = new PromiseWatcher();
    const broken = new Map<Promised, string>();
    for (let nth = 0; nth < HISTORIES; nth += 1) {
      if (nth % PORTION === 0) await setImmediate();
      try {
        live(nth, watcher);
      } catch (error) {
        if (!(error instanceof Broken)) throw error;
        if (!broken.has(error.promise)) broken.set(error.promise, told(nth));
      }
    }

    expect([...broken.values()].join('\n\n')).toBe('');
    if (HISTORIES < ENOUGH) return;
    expect([...watcher.commands.keys()].toSorted()).toEqual(Object.keys(COMMANDS).toSorted());
    expect(Math.min(...watcher.commands.values())).toBeGreaterThan(HISTORIES / 100_000);
    expect(watcher.posted).toBeGreaterThan(HISTORIES / 4);
  });
});

function live(nth: number, watcher: Watcher): void {
  const random = new Random(Math.imul(SEED, 0x9e3779b1) + nth);
  const life = new Life(random, watcher);
  for (let left = SHORTEST + random.below(MORE_TURNS); left > 0; left -= 1) takeTurn(life);
}

/** The history step by step. */
function told(nth: number): string {
  const steps: string[] = [];
  const watcher = new (class extends PromiseWatcher {
    override note(what: string, given?: Command): void {
      steps.push(given === undefined ? what : `  ${what} ${JSON.stringify(given)}`);
    }

    override changed(...args: Parameters<Watcher['changed']>): void {
      const [{ invoice }] = args;
      steps.push(
        `    -> ${invoice.state} ${invoice.exposure} ${invoice.generation} "${invoice.idempotencyKey}" ${invoice.serviceId} ${invoice.flags.join(' ')}`,
      );
      super.changed(...args);
    }
  })();
  try {
    live(nth, watcher);
  } catch (error) {
    return [`history ${nth} of seed ${SEED}, step ${steps.length}: ${String(error)}`, ...steps].join('\n');
  }
  return 'It does not fail again';
}
