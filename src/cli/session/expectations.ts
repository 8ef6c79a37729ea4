import { InvalidArgumentError } from 'commander';
import type { BatchInput } from '../../domain/messages/messages.ts';
import { LoteError } from '../../domain/errors.ts';
import { canonicalDecimal } from '../../domain/money.ts';

/** Arguments that name files and say how to read them. */
export type ReadingCommand = Omit<BatchInput, 'file' | 'ledgerId'> & {
  readonly files: readonly string[];
  readonly json: boolean;
};

/** Parses `--expect-invoices 120`. */
export function expectedInvoices(text: string): number {
  if (/^\d{1,12}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('expected a whole number such as 120');
}

/** Parses `--expect-net EUR=15321.40`, which is given once for each currency. */
export function expectedNet(text: string, before: Readonly<Record<string, string>> = {}): Record<string, string> {
  const [, currency, net = ''] = /^([A-Za-z]{3})=(.+)$/.exec(text) ?? [];
  if (currency === undefined || canonicalDecimal(net) === null)
    throw new InvalidArgumentError('expected a currency and a plain decimal such as EUR=15321.40');
  if (Object.hasOwn(before, currency.toUpperCase()))
    throw new InvalidArgumentError(`${currency.toUpperCase()} is there twice`);
  return { ...before, [currency.toUpperCase()]: net };
}

/** Refuses control totals for several files, because totals belong to one file. @throws LoteError `usage` */
export function requireOneFileForTotals(
  files: readonly string[],
  { expectInvoices, expectNet }: Pick<BatchInput, 'expectInvoices' | 'expectNet'>,
): void {
  if (files.length === 1 || (expectInvoices === undefined && expectNet === undefined)) return;
  throw new LoteError(
    'usage',
    `Comparing control totals: expected one file with --expect-invoices or --expect-net, found ${files.length}. Run them one by one.`,
  );
}
