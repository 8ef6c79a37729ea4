import type { LoteError, LoteErrorCode } from '../../domain/errors.ts';

/** What a person types next; errors whose own words name a command are left out. */
const NEXT: Readonly<Partial<Record<LoteErrorCode, string>>> = {
  'configuration-invalid': 'see the table of variables in docs/configuration.md; `lote --help` lists the commands',
  'file-unreadable': '`lote check FILE` with a path as this shell sees it, or a name in the input directory',
  'file-changed': '`lote run FILE` again when the file is complete',
  'ledger-unavailable': 'see that the database of DATABASE_URL answers; then the same command again',
  'ledger-foreign': '`lote status` with the same DATABASE_URL and LOTE_TASK_QUEUE as the worker',
  'service-unreachable': 'the same command again when the service answers; `lote check FILE` works without it',
  'service-unauthorized': 'set INVOICING_API_KEY; `lote confirm-service` when the new key is the right one',
  'temporal-unavailable':
    "see that TEMPORAL_ADDRESS answers, or unset it to use a server of Lote's own; then the same command again",
  'port-taken': 'set another port, or 0 for any free one; then the same command again',
  'owner-leaving': 'the same command again in a moment',
  'transition-refused': '`lote status BATCH` says where the batch stands',
};

/** The line below an error; nothing where its own words say enough. */
export function nextCommand({ code, message }: Pick<LoteError, 'code' | 'message'>, argv: readonly string[]): string {
  const next = NEXT[code] ?? (code === 'usage' ? `\`lote ${commandOf(argv)}--help\`` : undefined);
  if (next === undefined || message.includes('`lote ')) return '';
  return `Next: ${next}\n`;
}

function commandOf(argv: readonly string[]): string {
  const [command] = argv.slice(2).filter((word) => !word.startsWith('-'));
  return command === undefined ? '' : `${command} `;
}
