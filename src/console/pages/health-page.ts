import { setTimeout as sleep } from 'node:timers/promises';
import { html, table, type SafeHtml } from '../../texts/html.ts';
import type { ConsoleOptions, HealthCheck } from '../console-options.ts';
import type { PageFormat } from './page-format.ts';

const LEDGER_PATIENCE_MS = 3_000;

const PROFILE = 'service profile';

const TONES = { ok: 'good', trouble: 'bad', unknown: 'open' } as const;

const LEDGER_AWAY: HealthCheck = {
  ...{ name: 'ledger', state: 'trouble' },
  detail: 'The ledger does not answer. Look at the log of the process that owns it.',
};
const OTHERS_FAILED: HealthCheck = {
  ...{ name: 'health', state: 'unknown' },
  detail: 'The other checks could not be made. Look at the log of the process.',
};

/** Returns the console's check of the ledger, and the checks that the process supplies. Never throws. */
export async function healthChecks({
  ledger,
  health = async () => [],
}: Pick<ConsoleOptions, 'ledger' | 'health'>): Promise<readonly HealthCheck[]> {
  const others = health().catch(() => [OTHERS_FAILED]);
  return [await ledgerCheck(ledger).catch(() => LEDGER_AWAY), ...(await others)];
}

async function ledgerCheck(ledger: ConsoleOptions['ledger']): Promise<HealthCheck> {
  const unmatched = await Promise.race([ledger.unmatchedDeliveries(), tooLate()]);
  const detail = `id ${ledger.id}; ${unmatched} webhooks wait for an invoice that the ledger does not know yet`;
  return { name: 'ledger', state: 'ok', detail };
}

/** Rejects after a limit, because a query to an unreachable database may hang for as long as its driver waits. */
async function tooLate(): Promise<never> {
  await sleep(LEDGER_PATIENCE_MS, undefined, { ref: false });
  throw new Error('the ledger did not answer in time');
}

/** Renders the health page: one table row for each check. */
export function healthPage({ texts, time }: PageFormat, checks: readonly HealthCheck[]): SafeHtml {
  const rows = checks.map(
    ({ name, state, detail, at }) =>
      html`<tr>
        <th scope="row">${name === PROFILE ? html`<a href="/profile">${name}</a>` : name}</th>
        <td><span class="state ${TONES[state]}">${texts.healthStates[state]}</span></td>
        <td class="text">${at === undefined ? '' : time(at)} ${detail}</td>
      </tr>`,
  );
  return html`<h1>${texts.health}</h1>
    ${table(texts.health, [texts.check, texts.result, texts.healthDetail], rows)}`;
}
