import { fileURLToPath } from 'node:url';
import { LoteError } from '../../domain/errors.ts';
import { readConfig } from '../../app/config/config.ts';
import { isBuiltInSandbox } from '../../app/account/account-guard.ts';
import { EXIT, type ExitCode } from '../output/exit-codes.ts';
import { runCommand } from './run.ts';
import { upCommand } from './roles.ts';

const SAMPLE = fileURLToPath(import.meta.resolve('#sample'));

/**
 * `npm run demo`: issues the sample file from start to report. Some rows are wrong and some invoices fail at the
 * simulated engine, so `run` must end with exit code 1: finished, with a report that names what is not issued.
 */
export async function demoCommand(env: NodeJS.ProcessEnv, { watch }: { readonly watch: boolean }): Promise<ExitCode> {
  requireSandbox(env);
  const code = await runCommand(env, { files: [SAMPLE], json: false }, true);
  if (code !== EXIT.someNotIssued) {
    process.stderr.write(
      `The demo did not end as it should: expected a finished batch with some invoices not issued (1), found exit code ${code}.\n`,
    );
    return code === EXIT.ok ? EXIT.someNotIssued : code;
  }
  process.stdout.write(
    'The demo did what it should: valid invoices issued once, wrong rows and failed invoices named in the report.\n',
  );
  return watch ? upCommand(env) : EXIT.ok;
}

/**
 * The sample holds invented invoices: a real service must never issue them.
 * @throws LoteError `usage`
 */
function requireSandbox(env: NodeJS.ProcessEnv): void {
  const config = readConfig(env, process.cwd(), 'nothing');
  if (isBuiltInSandbox(config)) return;
  const found = config.databaseUrl === null ? 'INVOICING_BASE_URL is set' : 'DATABASE_URL is set';
  throw new LoteError(
    'usage',
    `Running the demo: it issues a sample file at the built-in sandbox, in an embedded ledger, but ${found}: its invoices would go to a real service, or into the ledger of real ones. Nothing was started. Run it in an empty directory, without INVOICING_BASE_URL, INVOICING_API_KEY and DATABASE_URL.`,
  );
}
