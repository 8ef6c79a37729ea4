import { readConfig } from '../../app/config/config.ts';
import { EXIT, type ExitCode } from '../output/exit-codes.ts';
import { localTime, printResult } from '../output/terminal-text.ts';
import { withSession } from '../session/open-session.ts';
import { plainText } from '../../texts/fill.ts';
import type { SearchAnswer } from '../../console/operations.ts';
import { OUTCOME_TEXTS_EN } from '../../texts/outcomes/en.ts';

/** Formats the output of `lote find`: the invoices, newest file first, the reason for each state, and how far the search went. */
export function foundText({ found, lookedAt, backTo, next }: SearchAnswer, timeZone?: string): string {
  const lines = [
    found.length === 0 ? 'Nothing found.' : `${found.length} ${found.length === 1 ? 'invoice' : 'invoices'} found:`,
  ];
  for (const one of found) {
    const net = one.net === null ? '' : `, net ${one.net} ${one.currency ?? ''}`;
    const rows = `${one.rows.length === 1 ? 'row' : 'rows'} ${one.rows.join(', ')}`;
    lines.push(
      `  ${one.ref}  ${one.state}`,
      `    merchant ${one.merchantNif}${net}${one.serviceId === null ? '' : `, ${one.serviceId}`}`,
      `    ${one.file}, ${rows}, read ${localTime(one.readAt, timeZone)}, batch ${one.batchId}`,
    );
    if (one.reason !== null) lines.push(`    ${one.reason.message}`);
    for (const flag of one.contradictions ?? []) lines.push(`    ${OUTCOME_TEXTS_EN.contradictions.flags[flag]}`);
    if (one.flags !== undefined && one.flags.length > 0) lines.push(`    flags ${one.flags.join(', ')}`);
  }
  if (backTo !== null) {
    const invoices = `${lookedAt} ${lookedAt === 1 ? 'invoice was' : 'invoices were'}`;
    lines.push(`${invoices} looked at one by one, back to ${localTime(backTo, timeZone)}.`);
  }
  if (next !== null) lines.push(`Older ones were not. To go on, give the same command with --after ${next}`);
  // References, file names and the service's own words may hold characters that a terminal treats as a command.
  return `${lines.map((line) => plainText(line)).join('\n')}\n`;
}

interface FindCommand {
  readonly words?: string | undefined;
  readonly net?: string;
  readonly from?: string;
  readonly to?: string;
  readonly parts?: true;
  readonly after?: string;
  readonly json: boolean;
}

/** `lote find`: searches the invoices of all batches, also while another process works on them. @throws LoteError `usage` */
export async function findCommand(env: NodeJS.ProcessEnv, command: FindCommand): Promise<ExitCode> {
  const { words: q = '', net = '', from = '', to = '', after = '', parts, json } = command;
  const wish = { q, net, from, to, after, ...(parts === true && { parts: '1' as const }) };
  const answer = await withSession(readConfig(env), ({ operations }) => operations.search(wish));
  printResult(json, answer, () => foundText(answer));
  return answer.found.length === 0 ? EXIT.someNotIssued : EXIT.ok;
}
