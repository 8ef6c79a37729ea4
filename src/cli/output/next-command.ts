import { commandLine, type CommandReader } from '../../domain/text/command-line.ts';
import type { LoteError, LoteErrorCode } from '../../domain/errors.ts';

/** What a person types next; errors whose own words name a command are left out. */
const NEXT: Readonly<Partial<Record<LoteErrorCode, string | ((reader: CommandReader) => string)>>> = {
  'configuration-invalid': 'see the table of variables in docs/configuration.md; `lote --help` lists the commands',
  'file-unreadable': (reader) =>
    `\`${commandLine(reader, 'check FILE')}\` with a path as this shell sees it, or a name in the input directory`,
  'file-changed': (reader) => `\`${commandLine(reader, 'run FILE')}\` again when the file is complete`,
  'ledger-unavailable': 'see that the database of DATABASE_URL answers; then the same command again',
  'ledger-foreign': '`lote status` with the same DATABASE_URL and LOTE_TASK_QUEUE as the worker',
  'service-unreachable': (reader) =>
    `the same command again when the service answers; \`${commandLine(reader, 'check FILE')}\` works without it`,
  'service-unauthorized': (reader) =>
    `set ${reader.isOneOfSeveral ? 'the key in the file of "apiKeyFile"' : 'INVOICING_API_KEY'}; \`${commandLine(reader, 'confirm-service')}\` when the new key is the right one`,
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
  return `Next: ${typeof next === 'string' ? next : next(readerOf(argv))}\n`;
}

/** The application that the command named; without a name there is one. */
function readerOf(argv: readonly string[]): CommandReader {
  const at = argv.findIndex((word) => /^--application(?:=|$)/u.test(word));
  const name = at === -1 ? undefined : (argv[at]?.split('=')[1] ?? argv[at + 1]);
  return { application: name ?? '', isOneOfSeveral: name !== undefined };
}

function commandOf(argv: readonly string[]): string {
  const [command] = argv.slice(2).filter((word) => !word.startsWith('-'));
  return command === undefined ? '' : `${command} `;
}
