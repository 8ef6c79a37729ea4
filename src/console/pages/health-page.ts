import { setTimeout as sleep } from 'node:timers/promises';
import { html } from 'hono/html';
import type { ConsoleOptions, HealthCheck } from '../console-options.ts';
import type { PageFormat } from './page-format.ts';
import type { Html } from './page-layout.ts';

const LEDGER_PATIENCE_MS = 3_000;

/** Where more is said of a part. */
const PAGES: Readonly<Record<string, string>> = { 'service profile': '/profile' };

const TONES = { ok: 'good', trouble: 'bad', unknown: 'open' } as const;

/** The ledger as the console sees it, and whatever checks the process brought along. Never throws. */
export async function healthChecks({
  ledger,
  health,
}: Pick<ConsoleOptions, 'ledger' | 'health'>): Promise<readonly HealthCheck[]> {
  return [await ledgerCheck(ledger), ...(await otherChecks(health))];
}

/** A database that is away may let a question hang for as long as its driver waits. */
async function tooLate(): Promise<never> {
  await sleep(LEDGER_PATIENCE_MS, undefined, { ref: false });
  throw new Error('the ledger did not answer in time');
}

async function ledgerCheck(ledger: ConsoleOptions['ledger']): Promise<HealthCheck> {
  try {
    const unmatched = await Promise.race([ledger.unmatchedDeliveries(), tooLate()]);
    return {
      name: 'ledger',
      state: 'ok',
      detail: `id ${ledger.id}; ${unmatched} webhooks wait for an invoice that nobody knows yet`,
    };
  } catch {
    return {
      name: 'ledger',
      state: 'trouble',
      detail: 'The ledger does not answer. Look at the log of the process that owns it.',
    };
  }
}

async function otherChecks(health: ConsoleOptions['health']): Promise<readonly HealthCheck[]> {
  if (health === undefined) return [];
  try {
    return await health();
  } catch {
    return [
      {
        name: 'health',
        state: 'unknown',
        detail: 'The other checks could not be made. Look at the log of the process.',
      },
    ];
  }
}

/** The health page: one table row for each check. */
export function healthPage({ texts, time }: PageFormat, checks: readonly HealthCheck[]): Html {
  return html`<h1>${texts.health}</h1>
    <div class="scroll" tabindex="0" role="region" aria-label="${texts.health}">
      <table>
        <thead>
          <tr>
            <th scope="col">${texts.check}</th>
            <th scope="col">${texts.result}</th>
            <th scope="col">${texts.healthDetail}</th>
          </tr>
        </thead>
        <tbody>
          ${checks.map(
            ({ name, state, detail, at }) =>
              html`<tr>
                <th scope="row">${Object.hasOwn(PAGES, name) ? html`<a href="${PAGES[name]}">${name}</a>` : name}</th>
                <td><span class="state ${TONES[state]}">${texts.healthStates[state]}</span></td>
                <td class="text">${at === undefined ? '' : time(at)} ${detail}</td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>`;
}
