import { totalsDiffer } from '../../src/domain/control-totals.ts';
import { LoteError } from '../../src/domain/errors.ts';
import type { Finding, Reason } from '../../src/domain/invoice.ts';
import { lostRows } from '../../src/domain/row.ts';
import { canonicalDecimal } from '../../src/domain/money.ts';
import { netByCurrency } from '../../src/domain/outcome-counts.ts';
import type { BatchInput } from '../../src/domain/messages/messages.ts';
import type { OutcomeCount } from '../../src/domain/records/batch-record.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';

/** The part of a staged batch that `sendingHold` reads. */
export interface StagedBatch {
  readonly batchId: string;
  readonly invoices: number;
  readonly rowsWithoutInvoice: number;
  readonly fileFindings: readonly Finding[];
  /** An earlier run has sent some of the invoices. Optional: the default is false. */
  readonly hasSent?: boolean;
}

type Expectations = Pick<BatchInput, 'onInvalid' | 'expectInvoices' | 'expectNet'>;

/**
 * Returns why a batch must not be sent although it was read: its control totals differ from the expected ones, or a row
 * is invalid and the batch was started with on-invalid "hold". Returns null if it may be sent. Reads only from the
 * ledger, so that a run that resumes a batch gets the same answer.
 * @throws LoteError `usage` for expectations that are no numbers
 */
export async function sendingHold(
  ledger: Pick<Ledger, 'countOutcomes'>,
  expectations: Expectations,
  batch: StagedBatch,
): Promise<Reason | null> {
  const { onInvalid, expectInvoices, expectNet } = expectations;
  if (onInvalid !== 'hold' && expectInvoices === undefined && expectNet === undefined) return null;
  const outcomes = await ledger.countOutcomes(batch.batchId);
  const differences = [...invoiceDifference(expectations, batch), ...netDifferences(expectations, outcomes)];
  if (differences.length > 0) return totalsDiffer(differences, batch.hasSent === true);
  return onInvalid === 'hold' && hasInvalidRows(batch, outcomes)
    ? {
        code: 'invalid-rows-in-file',
        message:
          'Some rows of the file are invalid and it was started with on-invalid "hold". Fix the rows and drop the file again.',
      }
    : null;
}

function hasInvalidRows({ rowsWithoutInvoice, fileFindings }: StagedBatch, outcomes: readonly OutcomeCount[]): boolean {
  if (lostRows(rowsWithoutInvoice, fileFindings) > 0) return true;
  return outcomes.some(({ outcome, invoices }) => outcome === 'invalid' && invoices > 0);
}

function invoiceDifference({ expectInvoices }: Expectations, { invoices }: StagedBatch): readonly string[] {
  if (expectInvoices === undefined) return [];
  return expectInvoices === invoices ? [] : [`expected ${expectInvoices} invoices, found ${invoices}`];
}

function netDifferences({ expectNet }: Expectations, outcomes: readonly OutcomeCount[]): readonly string[] {
  if (expectNet === undefined) return [];
  const expected = new Map(Object.entries(expectNet).map(([currency, net]) => [currency.toUpperCase(), amount(net)]));
  const found = netByCurrency(outcomes);
  const unreadable = outcomes.reduce((sum, { withoutAmount }) => sum + withoutAmount, 0);
  return [
    ...[...new Set([...expected.keys(), ...found.keys()])].flatMap((currency) => {
      const [want, have] = [expected.get(currency), found.get(currency)];
      return want === (have ?? '0')
        ? []
        : [
            `expected net ${want === undefined ? `nothing in ${currency}` : `${currency} ${want}`}, found ${have ?? '0'}`,
          ];
    }),
    ...(unreadable === 0 ? [] : [`${unreadable} invoices have no readable amount`]),
  ];
}

/** Reads an expected amount; the workflow has checked everything else. */
function amount(value: string): string {
  const decimal = canonicalDecimal(value);
  if (decimal !== null) return decimal;
  throw new LoteError(
    'usage',
    `Reading the control totals of a batch: expectNet must be a plain decimal such as 15321.40 for each currency, found ${JSON.stringify(value)}. Nothing was sent. Start the batch again.`,
  );
}
