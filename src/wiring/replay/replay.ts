import type { Replay, ReplayRow } from '../../domain/ports/replay.ts';
import type { ServiceProfile } from '../../service-profile/profile.ts';
import type { DeliveryRecording, ExchangeRecording, Recording } from '../recordings/recording.ts';
import { compareRecords } from './compare-records.ts';
import type { ReadRecord } from './read-record.ts';
import { createAnswerReplays } from './replay-answer.ts';
import { createDeliveryReplay } from './replay-delivery.ts';
import { replayList } from './replay-list.ts';
import { summaryOf } from './replay-summary.ts';

/**
 * Reads recorded answers and deliveries through a profile, with the functions that read the real ones; nothing leaves the process, and the same records give
 * the same result. Rows are in the order of their times.
 */
export async function replay(profile: ServiceProfile, recordings: readonly Recording[]): Promise<Replay> {
  const inOrder = recordings.toSorted((one, other) => one.at - other.at);
  const records = await readAll(profile, inOrder);
  const position = new Map(inOrder.map(({ name }, index) => [name, index]));
  const ordered = records.toSorted(
    (one, other) => (position.get(one.row.record) ?? 0) - (position.get(other.row.record) ?? 0),
  );
  const { rows, findings } = compareRecords(ordered, profile);
  const isWhole =
    rows.every(({ understood }) => understood !== false) && rows.some(({ operation }) => operation !== null);
  return { rows, findings, summary: summaryOf(rows), understood: isWhole && findings.length === 0 };
}

async function readAll(profile: ServiceProfile, recordings: readonly Recording[]): Promise<readonly ReadRecord[]> {
  const answers = createAnswerReplays(profile);
  const readDelivery = createDeliveryReplay(profile);
  const records: ReadRecord[] = [];
  const pages: ExchangeRecording[] = [];
  for (const recording of recordings) {
    if (recording.kind === 'exchange' && recording.operation === 'list-merchants') pages.push(recording);
    // Expressions have a time of their own each; side by side they would take it from one another.
    // oxlint-disable-next-line no-await-in-loop
    else records.push(...(await readOne(recording)));
  }
  return [...records, ...(await replayList(pages, profile))];

  async function readOne(recording: DeliveryRecording | ExchangeRecording): Promise<readonly ReadRecord[]> {
    if (recording.kind === 'delivery') return await readDelivery(recording);
    const { operation } = recording;
    if (operation === null || operation === 'list-merchants') return [foreign(recording)];
    return [await answers[operation](recording)];
  }
}

function foreign({ name: record, at, answer, request: { method, path } }: ExchangeRecording): ReadRecord {
  const row: ReplayRow = {
    ...{ record, at, operation: null, status: answer.status, understood: null, places: [] },
    says: `${method} ${path.split('?', 1)[0] ?? ''}: no request of the profile`,
  };
  return { row, facts: { serviceId: null, word: null, verdict: null } };
}
