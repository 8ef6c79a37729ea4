import type { Hono } from 'hono';
import type { Readiness } from '../../domain/ports/readiness.ts';
import type { ConsoleOptions } from '../console-options.ts';
import { healthChecks } from '../pages/health-page.ts';

/** Liveness and readiness, for whoever reaches the address: words that name parts and nothing else. */
export function probeRoutes(app: Hono, options: ConsoleOptions): void {
  const ready = readyOf(options);
  app.get('/health/live', (context) => context.json({ status: 'live' }));
  app.get('/health/ready', async (context) => {
    const readiness = await ready();
    return context.json(readiness, readiness.status === 'ready' ? 200 : 503);
  });
}

/** What the process brought along, else whether the ledger answers. */
export function readyOf({ ready, ledger }: Pick<ConsoleOptions, 'ready' | 'ledger'>): () => Promise<Readiness> {
  return ready ?? (async () => readinessOf(await healthChecks({ ledger })));
}

function readinessOf(checks: Awaited<ReturnType<typeof healthChecks>>): Readiness {
  const parts = checks.map(({ name, state }) => [name, state === 'trouble' ? 'trouble' : 'ok'] as const);
  return {
    status: parts.some(([, state]) => state === 'trouble') ? 'trouble' : 'ready',
    parts: Object.fromEntries(parts),
  };
}
