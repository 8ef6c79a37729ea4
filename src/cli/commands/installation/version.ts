import { installedVersion, type InstalledVersion } from '../../../wiring/doctor/installed-version.ts';
import { EXIT, type ExitCode } from '../../output/exit-codes.ts';

/** `lote version`: which Lote this is, and which ledger it meets. */
export async function versionCommand({
  json,
  env,
}: {
  readonly json: boolean;
  readonly env: NodeJS.ProcessEnv;
}): Promise<ExitCode> {
  const installed = await installedVersion(env);
  process.stdout.write(json ? `${JSON.stringify(installed)}\n` : versionText(installed));
  return EXIT.ok;
}

function versionText({ ledger, ...facts }: InstalledVersion): string {
  return [
    `Lote            ${facts.version}`,
    `schema          ${facts.schema}`,
    `ledger's schema ${facts.ledgerSchema ?? '-'}  ${ledger}`,
    `workflows       ${facts.workflows ?? 'not bundled yet: the first worker does it'}`,
    `Node            ${facts.node}`,
    `Temporal SDK    ${facts.temporalSdk}`,
    '',
  ].join('\n');
}
