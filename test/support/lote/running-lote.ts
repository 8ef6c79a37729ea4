import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Endpoints } from '../../../src/runtime/data-dir/endpoints-file.ts';
import { newPlace, startLote, type Place } from './lote-command.ts';

const POLL_INTERVAL_MS = 100;

export interface RunningLote {
  readonly place: Place;
  readonly endpoints: Endpoints;
  readonly console: string;
  readonly temporalUi: string;
  /** A clean end, and nothing left on the disk. */
  stop(): Promise<void>;
}

/** `lote up` as a process of its own, in a place of its own. */
export async function startLoteUp(env: Readonly<Record<string, string>> = {}): Promise<RunningLote> {
  const place = await newPlace();
  const command = startLote(['up'], {
    ...place.env,
    CONSOLE_PORT: '0',
    RECEIVER_PORT: '0',
    SANDBOX_PORT: '0',
    ...env,
  });
  const endpoints = await endpointsOf(place, command.end);
  return {
    place,
    endpoints,
    console: endpoints.console ?? '',
    temporalUi: endpoints.temporalUi ?? '',
    async stop() {
      process.kill(command.pid, 'SIGTERM');
      await command.end;
      await place.remove();
    },
  };
}

async function endpointsOf(place: Place, end: ReturnType<typeof startLote>['end']): Promise<Endpoints> {
  let over: string | null = null;
  void end.then(({ code, stderr }) => (over = `exit code ${code}: ${stderr}`));
  for (;;) {
    const text = await readFile(join(place.dataDir, 'endpoints.json'), 'utf8').catch(() => null);
    if (text !== null) return JSON.parse(text) as Endpoints;
    if (over !== null) {
      await place.remove();
      throw new Error(`lote up ended before it was up, ${String(over)}`);
    }
    await sleep(POLL_INTERVAL_MS);
  }
}
