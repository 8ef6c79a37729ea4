import { spawn } from 'node:child_process';
import type { AnnouncedReport } from '../../../activities/deps.ts';
import { childEnvironment } from '../process/child-environment.ts';

/** A mailer that hangs must not keep a batch from ending. */
const TIMEOUT_MS = 60_000;

interface ReportHookOptions {
  /** Program and its first arguments; null: no program is run. */
  readonly command: readonly string[] | null;
  readonly env: NodeJS.ProcessEnv;
  readonly log: { warn(message: string, fields?: Record<string, unknown>): void };
  readonly timeoutMs?: number;
}

/**
 * Runs `LOTE_ON_REPORT` with the path of a report as its last argument, and the rest as LOTE_REPORT_* variables. No shell
 * is between: a file name is never read as a command. It gets PATH, HOME and the like, and none of Lote's secrets. It may
 * run twice for one report (after a crash); whether it fails is only logged.
 */
export function createReportHook({ command, env, log, timeoutMs = TIMEOUT_MS }: ReportHookOptions) {
  const [program, ...first] = command ?? [];
  return {
    async announce(report: AnnouncedReport): Promise<void> {
      if (program === undefined) return;
      const failure = await run(program, [...first, report.html], { env: environment(env, report), timeoutMs });
      if (failure !== null) log.warn('LOTE_ON_REPORT failed', { report: report.id, failure });
    },
  };
}

function environment(env: NodeJS.ProcessEnv, report: AnnouncedReport): NodeJS.ProcessEnv {
  return {
    ...childEnvironment(env),
    LOTE_REPORT_KIND: report.kind,
    LOTE_REPORT_HTML: report.html,
    LOTE_REPORT_JSON: report.json,
    LOTE_REPORT_ID: report.id,
    LOTE_REPORT_STATE: report.state,
  };
}

/** Null when it ended well, else why not. */
function run(
  program: string,
  parameters: readonly string[],
  { env, timeoutMs: timeout }: { readonly env: NodeJS.ProcessEnv; readonly timeoutMs: number },
): Promise<string | null> {
  return new Promise((resolve) => {
    const child = spawn(program, parameters, {
      env,
      stdio: 'ignore',
      windowsHide: true,
      timeout,
      killSignal: 'SIGKILL',
    });
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => {
      const how =
        signal === null
          ? `it ended with exit code ${code}`
          : `it was ended by ${signal} (time limit ${timeout / 1000} s)`;
      resolve(code === 0 ? null : how);
    });
  });
}
