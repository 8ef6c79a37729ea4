import { LoteError } from '../../domain/errors.ts';
import { readConfig, type Config } from '../../app/config/config.ts';
import { openDataDir } from '../../app/data-dir/data-dir.ts';
import { choosePort } from '../../app/process/free-port.ts';
import { createLogger } from '../../app/process/logger.ts';
import type { Role } from '../../app/start/open-application.ts';
import { startProcess, type RunningProcess } from '../../app/start/start-process.ts';
import { parseFaults } from '../../sandbox/faults.ts';
import { fileStore } from '../../sandbox/store.ts';
import { startSandbox } from '../../sandbox/sandbox.ts';
import { tableLines } from '../output/terminal-text.ts';
import { EXIT, type ExitCode } from '../output/exit-codes.ts';
import { interruption, leaveSoon } from '../session/interruption.ts';
import { startOwner, type Owner } from '../../app/start/start-owner.ts';
import { preflight } from '../session/preflight.ts';

/** `lote worker`: runs one of any number of workers on a shared Temporal server and a PostgreSQL ledger. */
export async function workerCommand(env: NodeJS.ProcessEnv): Promise<ExitCode> {
  const config = requireShared(readConfig(env), 'worker');
  return runRole('worker', config, ({ healthUrl }) => {
    const health = healthUrl === null ? '' : `, health at ${healthUrl}`;
    return `Worker on task queue ${config.taskQueue}${health}`;
  });
}

/** `lote receiver`: takes webhook deliveries into the shared ledger. */
export async function receiverCommand(env: NodeJS.ProcessEnv): Promise<ExitCode> {
  const config = requireShared(readConfig(env), 'receiver');
  return runRole('receiver', config, ({ receiverUrl }) => `Receiver ${receiverUrl}`);
}

/** `lote console`: serves the web pages and the JSON API over a shared ledger. */
export async function consoleCommand(env: NodeJS.ProcessEnv): Promise<ExitCode> {
  // The console sends nothing to the service: it needs the service's address for the health page, but no key.
  const config = readConfig(env, process.cwd(), 'nothing');
  if (config.databaseUrl === null) throw notShared('console', 'DATABASE_URL must be set');
  return runRole('console', config, ({ consoleUrl }) => `Console ${consoleUrl}`);
}

/** Runs a process with one role until Ctrl-C or until a part is lost. `lineOf` returns the line that says that the process is ready. */
async function runRole(role: Role, config: Config, lineOf: (running: RunningProcess) => string): Promise<ExitCode> {
  const log = createLogger({ level: config.logLevel, secrets: config.secrets });
  const { over, begin } = interruption();
  const place = { config, log, roles: [role], own: null, onWork: begin, onForcedEnd: leaveSoon };
  const running = await startProcess(place);
  begin();
  const metrics = running.metricsUrl === null ? '' : `, metrics at ${running.metricsUrl}`;
  process.stdout.write(`${lineOf(running)}${metrics}\n`);
  try {
    await Promise.race([over, running.lost, ...(running.worker === null ? [] : [running.worker.ended])]);
  } finally {
    await running.stop();
  }
  return EXIT.ok;
}

/** Requires a shared database and Temporal server, so that separate processes share one truth. @throws LoteError `configuration-invalid` */
function requireShared(config: Config, part: string): Config {
  if (config.databaseUrl !== null && config.temporal.address !== null && config.service.kind === 'remote')
    return config;
  const all = 'DATABASE_URL, TEMPORAL_ADDRESS, INVOICING_BASE_URL and INVOICING_API_KEY';
  throw notShared(part, `${all} must all be set`);
}

function notShared(part: string, wish: string): LoteError {
  const message = `Starting ${part} as a process of its own: ${wish}. For everything in one process use \`lote up\`.`;
  return new LoteError('configuration-invalid', message);
}

/** `lote up`: runs everything embedded until Ctrl-C; requests on the wire end first. */
export async function upCommand(env: NodeJS.ProcessEnv): Promise<ExitCode> {
  const config = readConfig(env);
  const log = createLogger({ level: config.logLevel, secrets: config.secrets });
  const notify = (line: string): void => void process.stderr.write(`${line}\n`);
  const { over, begin } = interruption();
  const beside = { onWork: begin, onForcedEnd: leaveSoon, beforeHandOver: preflight };
  const stack = await startOwner({ config, log, notify, env, ...beside });
  if (stack === null)
    throw new LoteError(
      'data-directory-owned',
      `Starting Lote: another process owns ${config.dataDir} and is up already; only one may. Stop it first, or set LOTE_DATA_DIR to another directory.`,
    );
  // A person may press Ctrl-C now. The worker polls, so the process ends in order even if another part does not answer.
  const ended = Promise.race([over, stack.lost]);
  process.stdout.write(addresses(stack));
  try {
    await ended;
  } finally {
    notify('Leaving: requests on the wire end first (Ctrl-C again leaves now) …');
    await stack.stop();
  }
  return EXIT.ok;
}

function addresses({ endpoints, metricsUrl }: Owner): string {
  const rows = [
    ['Temporal', endpoints.temporalAddress],
    ['Temporal UI', endpoints.temporalUi],
    ['Console', endpoints.console],
    ['Receiver', endpoints.receiver],
    ['Sandbox', endpoints.sandbox],
    ['Metrics', metricsUrl],
  ].filter((row): row is string[] => row[1] !== null);
  return `${tableLines(rows).join('\n')}\n`;
}

/** `lote sandbox`: runs the simulated service alone, for developers of a client for the published interface. Without `host`, it listens on this machine alone. */
export async function sandboxCommand(
  env: NodeJS.ProcessEnv,
  { host, faults }: { readonly host?: string; readonly faults?: string },
): Promise<ExitCode> {
  // The sandbox plays the service, so it needs no key.
  const config = readConfig(env, process.cwd(), 'nothing');
  const staying = interruption();
  const sandbox = await startSandbox({
    host: host ?? config.sandbox.host,
    port: await choosePort(config.sandbox),
    apiKeys: 'any',
    store: fileStore({ directory: (await openDataDir(config.dataDir)).sandbox }),
    log: createLogger({ level: config.logLevel, secrets: config.secrets }),
    ...(faults === undefined ? {} : { faults: parseFaults(faults) }),
  });
  staying.begin();
  process.stdout.write(`Sandbox ${sandbox.url}\n`);
  await staying.over;
  await sandbox.close();
  return EXIT.ok;
}
