import { ANY_APPLICATION } from '../../domain/text/command-line.ts';
import { LoteError } from '../../domain/errors.ts';
import { readInstallation } from '../../runtime/config/installation.ts';
import { createLogger } from '../../runtime/process/logger.ts';
import { leaveSoon } from '../../runtime/process/shutdown.ts';
import { startEmbedded } from '../../wiring/start/embedded.ts';
import type { Stack } from '../../wiring/start/embedded-stack.ts';
import { orphanedLines } from '../../wiring/operator/orphaned-batches.ts';
import { EXIT, type ExitCode } from '../output/exit-codes.ts';
import { preflight } from '../session/preflight.ts';
import { stay } from '../session/stay.ts';

/** `lote up`: everything embedded, stays until Ctrl-C; requests on the wire end first. */
export async function upCommand(env: NodeJS.ProcessEnv): Promise<ExitCode> {
  const { common: config, applications, several } = readInstallation(env);
  const log = createLogger({ level: config.logLevel, secrets: config.secrets });
  const notify = (line: string): void => void process.stderr.write(`${line}\n`);
  let stack: Stack | null = null;
  const staying = stay(() => stack?.kill());
  stack = await startEmbedded({
    ...{ config, log, notify, env, ...(several ? { applications } : {}) },
    onWork: staying.begin,
    onForcedEnd: leaveSoon,
    beforeHandOver: (service) => preflight(service, Date.now),
  });
  if (stack === null)
    throw new LoteError(
      'data-directory-owned',
      `Starting Lote: another process owns ${config.dataDir} and is up already; only one may. Stop it first, or set LOTE_DATA_DIR to another directory.`,
    );
  // Whoever reads an address may press Ctrl-C: since the worker polls it is an end in order, whatever does not answer.
  const ended = Promise.race([staying.over, stack.lost]);
  process.stdout.write(addresses(stack));
  try {
    await Promise.race([ended, notifyOrphaned(stack, several, notify)]);
    await ended;
  } finally {
    stack.handOver.refuse();
    notify('Leaving: requests on the wire end first (Ctrl-C again leaves now) …');
    await stack.stop();
  }
  return EXIT.ok;
}

async function notifyOrphaned(stack: Stack, several: boolean, notify: (line: string) => void): Promise<void> {
  const reader = { application: ANY_APPLICATION, isOneOfSeveral: several };
  for (const line of await orphanedLines(stack, new Set(), reader)) notify(line);
}

function addresses({ endpoints, metricsUrl }: Stack): string {
  const lines = [
    ['Temporal', endpoints.temporalAddress],
    ['Temporal UI', endpoints.temporalUi],
    ['Console', endpoints.console],
    ['Receiver', endpoints.receiver],
    ['Sandbox', endpoints.sandbox],
    ['Metrics', metricsUrl],
  ].filter(([, address]) => address !== null);
  return `${lines.map(([name, address]) => `${String(name).padEnd(12)} ${String(address)}`).join('\n')}\n`;
}
