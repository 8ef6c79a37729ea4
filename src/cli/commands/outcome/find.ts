import { readInstallation } from '../../../runtime/config/installation.ts';
import { withBatchReader } from '../../../wiring/reports/batch-reader.ts';
import { EXIT, type ExitCode } from '../../output/exit-codes.ts';
import { foundText } from '../../output/found-text.ts';

/** Options of `lote find`, as they were typed. */
export interface FindOptions {
  readonly net?: string;
  readonly from?: string;
  readonly to?: string;
  readonly parts?: true;
  readonly after?: string;
  readonly json: boolean;
}

export interface FindCommand {
  readonly words: string | undefined;
  readonly options: FindOptions;
  readonly env: NodeJS.ProcessEnv;
}

/** `lote find`: invoices of all batches, also while another process works on them. @throws LoteError `usage` */
export async function findCommand({ words = '', options, env }: FindCommand): Promise<ExitCode> {
  const { json, parts, net = '', from = '', to = '', after = '' } = options;
  const wish = { q: words, net, from, to, after, ...(parts === true && { parts: '1' as const }) };
  const installation = readInstallation(env);
  const answer = await withBatchReader(installation, (reader) => reader.search(wish));
  process.stdout.write(json ? `${JSON.stringify(answer)}\n` : foundText(answer, { several: installation.several }));
  return answer.found.length === 0 ? EXIT.someNotIssued : EXIT.ok;
}
