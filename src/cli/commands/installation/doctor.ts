import { examine } from '../../../wiring/doctor/doctor.ts';
import { doctorTable } from '../../output/doctor-table.ts';
import { EXIT, type ExitCode } from '../../output/exit-codes.ts';

/** `lote doctor`: nothing is sent and nothing is changed. `1`: something must be mended. */
export async function doctorCommand({
  json,
  env,
}: {
  readonly json: boolean;
  readonly env: NodeJS.ProcessEnv;
}): Promise<ExitCode> {
  const checks = await examine(env);
  const isWell = checks.every(({ state }) => state !== 'trouble');
  process.stdout.write(json ? `${JSON.stringify({ well: isWell, checks })}\n` : doctorTable(checks));
  return isWell ? EXIT.ok : EXIT.someNotIssued;
}
